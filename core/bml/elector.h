// SPDX-License-Identifier: BSD-3-Clause
// core/bml/elector.h -- which of a pair's open paths is used: elects the send path and those that share
// bulk data, and moves the ordered lane from one path to another behind a marker (tests/model/busy.pml).
//
// Threads: under the engine's lock. Owns nothing: what it decides stands in the Peer.
#pragma once

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
  /// Chooses again among the open paths, and has the missing ones dialled; moves the ordered lane if
  /// that changes it.
  void elect(Peer& peer) noexcept;
  /// ... for every peer that has a path.
  void elect_all() noexcept;
  /// What could share bulk data with the path that the pair sends on, and has no path yet.
  std::vector<std::string> missing_equals(Peer& peer);

  /// Leaves the send path, by a marker, for none. Requires: there is one. why: for the log.
  void stop_sending(Peer& peer, const char* why) noexcept;
  /// Has anything of ours gone by that path, which is in use no more, or no more for the ordered lane and is not
  /// proved empty of that?
  bool left(const Peer& peer, const Path& path) const noexcept;
  void on_marker_ack(Path& path, std::uint64_t ordinal) noexcept;
  /// The peer has left this path: by our marker too, unless we send on it. A hold keeps that back
  /// until unpark(): there the peer may have left all paths, and come back.
  void on_peer_left(const Peer& peer, Path& path) noexcept;

  // A HOLD, see hold.h.
  /// Leaves the path that is sent on.
  void park(Peer& peer) noexcept;
  /// What of ours is still on its way to the peer, for people; empty: nothing.
  std::string still_on_its_way(const Peer& peer) const;
  /// Takes the paths up again.
  void unpark(Peer& peer) noexcept;

 private:
  static void leave_too(const Peer& peer, Path& path) noexcept;
  void move_send_path(Peer& peer, Path* to) noexcept;
  void refresh_bulk_paths(Peer& peer) noexcept;
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
