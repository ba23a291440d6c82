// SPDX-License-Identifier: BSD-3-Clause
// core/bml/probes.h -- signs of life: a path that stays silent while something is awaited on it is
// probed, and closed if nothing answers; and late acknowledgements are requested.
//
// Threads: under the engine's lock. Owns nothing.
#pragma once

#include "core/engine/parts.h"
#include "core/lane/path_events.h"
#include "core/lane/peer.h"

namespace livebtl::core {

class Probes {
 public:
  Probes(const Context& context, Peers& peers, Sender& sender, const PortTable& ports,
         const Hold& hold, PathEvents& events)
      : context_(context),
        peers_(peers),
        sender_(sender),
        ports_(ports),
        hold_(hold),
        events_(events) {}

  /// Asks the other end of that path for a sign of life; keep_time() judges the outcome.
  void probe(Path& path) noexcept;
  /// Called before keep_time() of all peers. If the last look was long ago, no path is judged until
  /// the transports have moved.
  void begin_look() noexcept;
  /// Looks at all paths of the peer. At housekeeping.
  void keep_time(Peer& peer) noexcept;
  /// Probes the silent paths of peers that somebody waits for: if the end of a path was not seen
  /// here, nothing else shows that the peer is gone. A peer that was never met is dialled: that
  /// leads to a path, or to proof that it is dead. At housekeeping; acts every 15 times
  /// LIVEBTL_PROBE_MS.
  void make_rounds() noexcept;
  /// When make_rounds() has something to do next.
  TimeNs round_due_at() noexcept;
  /// When keep_time() next has something to judge of this peer. Silence that was not counted yet is
  /// counted from now on.
  TimeNs due_at(Peer& peer) const noexcept;
  /// Asks peers for the acknowledgements that they owe (the answer to a probe carries one).
  void request_acks() noexcept;

 private:
  void check(Peer& peer, Path& path) noexcept;
  void excuse(Path& path) noexcept;
  void run_out(Path& path, const char* what) noexcept;
  TimeNs silence_max() const noexcept;
  bool awaited(const Peer& peer, Path& path) const noexcept;
  bool waits_for(const Peer& peer) const noexcept;
  bool is_unmet(const Peer& peer) const noexcept;

  const Context& context_;
  Peers& peers_;
  Sender& sender_;
  const PortTable& ports_;
  const Hold& hold_;
  PathEvents& events_;
  TimeNs round_at_ = 0;
  TimeNs looked_at_ = 0;
  bool late_ = false;  // this look comes long after the last
};

}  // namespace livebtl::core
