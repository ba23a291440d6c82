// SPDX-License-Identifier: BSD-3-Clause
// core/bml/connector.h -- how a path begins: the hellos that prove both ends' identities, from the
// dial or accept until the path is open and belongs to its peer.
//
// Threads: under the engine's lock. Ownership: owns an accepted path until its other end has proved
// who it is; a dialled path belongs to its peer from the start.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "core/engine/parts.h"
#include "core/lane/peer.h"
#include "core/path/handshake.h"

namespace livebtl::core {

class Connector {
 public:
  /// The parts that a connection needs. All outlive the Connector.
  struct Parts {
    Context& context;
    PathParts path;  // of every path
    Peers& peers;
    Slots& slots;
    Elector& elector;
    Losses& losses;
    Probes& probes;
    Sender& sender;
    const Switching& switching;
    Returning& returning;
    Hold& hold;
  };
  explicit Connector(const Parts& parts) : parts_(parts), context_(parts.context) {}

  /// Dialled: says our hello. The path belongs to the peer.
  Path& begin(Peer& peer, TransportSlot& slot, std::unique_ptr<Endpoint> endpoint);
  /// Accepted: waits for a hello. admitted_for: the sender of the ticket that admitted it, if any.
  void take_in(TransportSlot& slot, std::unique_ptr<Endpoint> endpoint,
               ProcessId admitted_for = {}) noexcept;
  /// payload: hostile.
  void on_hello(Path& path, Bytes payload) noexcept;
  /// A hello message waits until its path takes it.
  bool pending() const noexcept { return !hellos_due_.empty(); }
  /// Posts waiting hellos.
  void turn() noexcept;
  /// Closes accepted connections that said no good hello in time. At housekeeping.
  void keep_time() noexcept;
  /// When keep_time() has something to do next.
  TimeNs due_at() const noexcept;

  const std::vector<std::unique_ptr<Path>>& unauthenticated() const noexcept {
    return unauthenticated_;
  }
  /// Gives up ownership of a path that is down or adopted; null: it is a peer's.
  std::unique_ptr<Path> release(Path& path) noexcept;
  /// Closes unauthenticated paths, of one transport or (null) of all.
  void close_unauthenticated(const TransportSlot* slot, const char* why) noexcept;
  void log_refused(const Path& path, const std::string& text) noexcept;
  /// Destroys what is left. At the end.
  void clear() noexcept;

 private:
  HelloFacts facts(const Peer* peer, std::uint64_t path, std::uint64_t replaces) const;
  void take_step(Path& path, Handshake::Step step) noexcept;
  Handshake::Step answer_hello(Path& path) noexcept;
  RefuseReason judge_hello(Path& path, const Peer* peer) noexcept;
  void refused(Path& path, const Handshake::Step& step) noexcept;
  void opened(Path& path) noexcept;
  void adopt_path(Path& path, Peer& record) noexcept;
  void fenced_off(Path& path) noexcept;
  bool is_fenced_off(const Path& path) const noexcept;
  bool gave_way(Path& path) noexcept;
  void flush_hello(Path& path) noexcept;

  const Parts parts_;
  Context& context_;
  std::vector<std::unique_ptr<Path>> unauthenticated_;
  std::vector<Path*> hellos_due_;  // with a handshake message to post
  LogLimit refusals_logged_{1, 60 * kSecond};
};

}  // namespace livebtl::core
