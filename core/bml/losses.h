// SPDX-License-Identifier: BSD-3-Clause
// core/bml/losses.h -- what follows when something ends: paths that broke or are closed, peers that
// are dead, this process's own goodbye.
//
// Threads: under the engine's lock. Ownership: owns a path from the moment it is taken out of its
// peer until no call into a transport is running.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/parts.h"
#include "core/lane/peer.h"

namespace livebtl::core {

class Losses {
 public:
  /// The parts that hear of a loss. All outlive the Losses.
  struct Parts {
    Context& context;
    Peers& peers;
    Elector& elector;
    Dialler& dialler;
    Connector& connector;
    Returning& returning;
    Sender& sender;
    Transfers& transfers;
    OneSided& onesided;
    PortTable& ports;
  };
  /// What was lost, when and why, for people.
  struct Loss {
    TimeNs at = 0;
    ProcessId peer{};
    std::string transport;  // "": the peer itself was lost
    std::string why;
  };

  explicit Losses(const Parts& parts) : parts_(parts), context_(parts.context) {}

  /// The list to which broken paths add themselves (PathParts).
  std::vector<Path*>& broken() noexcept { return broken_; }
  /// Some paths are down, or wait to be destroyed.
  bool pending() const noexcept { return !broken_.empty() || !ended_.empty(); }
  /// Clears away broken paths. Not during a call into a transport: their endpoints die here.
  void turn() noexcept;

  /// Destroys the transport and all its paths. The caller has drained them (or the paths count as
  /// lost).
  void close_transport(TransportSlot& slot) noexcept;
  /// Closes all connections that do not move with a machine (restored, or fenced out).
  void close_connections() noexcept;
  /// Ends paths whose hello named an incarnation that this process no longer has.
  void close_unopened() noexcept;
  /// The peer says that it has lost a path.
  static void on_peer_path_down(Peer& peer, std::uint64_t path_id) noexcept;
  void lose_peer(Peer& peer, const std::string& why) noexcept;
  /// Fails the operations that name a lost peer, after a delay in which a launcher may act, and
  /// retires its record. At housekeeping.
  void keep_time() noexcept;
  /// The latest losses, and their total number.
  const std::deque<Loss>& last() const noexcept { return last_; }
  std::uint64_t total() const noexcept { return total_; }
  /// When keep_time() has something to do next.
  TimeNs due_at() const noexcept;

  /// From now on no path's end is a loss, and nothing is dialled. false: some path could not take
  /// the goodbye; call again.
  bool say_goodbye() noexcept;
  /// Destroys all that is left. At the end.
  void clear() noexcept;

 private:
  void path_lost(Path& path) noexcept;
  void peer_path_lost(Peer& peer, Path& path) noexcept;
  bool benign(const Path& path) const noexcept;
  TimeNs fails_at(const Peer& peer) const noexcept;
  void fail(Peer& peer) noexcept;
  void recover(Peer& peer, Path& path) noexcept;
  void note(const Peer& peer, const std::string& transport, const std::string& why);

  const Parts parts_;
  Context& context_;
  std::vector<Path*> broken_;
  std::vector<std::unique_ptr<Path>> ended_;  // destroyed when no call into a transport runs
  std::deque<Loss> last_;
  std::uint64_t total_ = 0;
  bool said_goodbye_ = false;
};

}  // namespace livebtl::core
