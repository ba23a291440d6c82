// SPDX-License-Identifier: BSD-3-Clause
// core/bml/losses.h -- what follows when something ends: paths that broke or are closed, peers that are
// dead, this process's own goodbye.
//
// Threads: under the engine's lock. Ownership: owns paths from when they are taken out of their peer
// until no call into a transport runs.
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
  /// For people: what was lost, when, and why.
  struct Loss {
    TimeNs at = 0;
    ProcessId peer{};
    std::string transport;  // "": the peer itself
    std::string why;
  };

  explicit Losses(const Parts& parts) : parts_(parts), context_(parts.context) {}

  /// Where paths that break put themselves (PathParts).
  std::vector<Path*>& broken() noexcept { return broken_; }
  /// Paths are down, or wait for their end.
  bool pending() const noexcept { return !broken_.empty() || !ended_.empty(); }
  /// Clears broken paths away. Not during a call into a transport: their endpoints die here.
  void turn() noexcept;

  /// Destroys the transport and all its paths. The caller has drained them (or the paths count as
  /// lost).
  void close_transport(TransportSlot& slot) noexcept;
  /// Closes all connections that a machine does not take along (restored, or fenced out).
  void close_connections() noexcept;
  /// Ends the paths on which hello was said as of an incarnation that this process is no more.
  void close_unopened() noexcept;
  /// The peer says that it has lost a path.
  static void on_peer_path_down(Peer& peer, std::uint64_t path_id) noexcept;
  void lose_peer(Peer& peer, const std::string& why) noexcept;
  /// Operations that name a lost peer end after a delay, in which a launcher may act; and so does its
  /// record. At housekeeping.
  void keep_time() noexcept;
  /// The last of them, and how many there were.
  const std::deque<Loss>& last() const noexcept { return last_; }
  std::uint64_t total() const noexcept { return total_; }
  /// When keep_time() has something to do next.
  TimeNs due_at() const noexcept;

  /// From now on no path's end is a loss, and none is dialled for. false: some peer could not be told,
  /// as its path takes nothing: again.
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
