// SPDX-License-Identifier: BSD-3-Clause
// core/bml/elector.h -- which of a pair's open paths are used: elects the send path and the paths
// that share bulk data, and moves the ordered lane to another path behind a marker
// (tests/model/busy.pml).
//
// Threads: under the engine's lock. Owns nothing: its decisions are stored in the Peer.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/engine/parts.h"
#include "core/lane/peer.h"

namespace livebtl::core {

class Elector {
 public:
  Elector(Context& context, Peers& peers, Slots& slots, Sender& sender, Dialler& dialler,
          const Switching& switching, const Hold& hold)
      : context_(context),
        peers_(peers),
        slots_(slots),
        sender_(sender),
        dialler_(dialler),
        switching_(switching),
        hold_(hold) {}

  /// An open path by that transport that may be sent on; null: none.
  Path* open_path(Peer& peer, std::string_view transport) noexcept;
  /// Chooses again among the open paths and has missing ones dialled; moves the ordered lane if the
  /// choice has changed.
  void elect(Peer& peer) noexcept;
  /// elect() for every peer that has a path.
  void elect_all() noexcept;
  /// Transports that could share bulk data with the send path, but have no path yet.
  std::vector<std::string> missing_equals(Peer& peer);

  /// Leaves the send path with a marker, for none. Requires: there is one. why: for the log.
  void stop_sending(Peer& peer, const char* why) noexcept;
  /// Have we sent on that open path, and has all our traffic left it, or just the ordered lane,
  /// whose marker is not acknowledged yet?
  bool left(const Peer& peer, const Path& path) const noexcept;
  void on_marker_ack(Path& path, std::uint64_t ordinal) noexcept;
  /// The peer has left this path: we leave it too, with a marker, unless we send on it. A hold
  /// defers that until unpark(): during it the peer may leave all paths and come back.
  void on_peer_left(const Peer& peer, Path& path) noexcept;

  // A HOLD, see hold.h.
  /// Leaves the send path.
  void park(Peer& peer) noexcept;
  /// Why frames of ours may still be on their way to the peer, for people; empty: none are.
  std::string still_on_its_way(const Peer& peer) const;
  /// Uses the paths again.
  void unpark(Peer& peer) noexcept;

 private:
  static void leave_too(const Peer& peer, Path& path) noexcept;
  void move_send_path(Peer& peer, Path* to) noexcept;
  // allowed: what permitted() says of the pair, of which the first is its choice.
  std::vector<std::string> permitted_to(const Peer& peer) const;
  std::vector<std::string> missing_of(Peer& peer, std::span<const std::string> allowed);
  void refresh_bulk_paths(Peer& peer, std::span<const std::string> allowed) noexcept;
  void mark_left_bulk(Peer& peer) noexcept;
  std::pair<std::uint32_t, std::uint32_t> tuned(const TransportSlot& slot) const;
  Copies copies(const TransportSlot& slot) const;

  Context& context_;
  Peers& peers_;
  Slots& slots_;
  Sender& sender_;
  Dialler& dialler_;
  const Switching& switching_;
  const Hold& hold_;
};

}  // namespace livebtl::core
