// SPDX-License-Identifier: BSD-3-Clause
// core/bml/probes.h -- signs of life: a path on which something is awaited, and nothing comes, is probed
// and closed if that is in vain; and acknowledgements that are late are asked for, or given.
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

  /// Asks the other end for a sign of life, on that path; keep_time() judges what comes of it.
  void probe(Path& path) noexcept;
  /// Before keep_time() of all peers. Was the last look long ago, no path is judged before transports have moved.
  void begin_look() noexcept;
  /// Looks at all paths of the peer. At housekeeping.
  void keep_time(Peer& peer) noexcept;
  /// Probes the silent paths of peers for which somebody waits. Where the end of a path did not come through nothing
  /// else shows that the peer is gone. One that was never met is dialled: that leads to a path, or to a proof that it is
  /// dead. At housekeeping; does something every 15 times LIVEBTL_PROBE_MS.
  void make_rounds() noexcept;
  /// When make_rounds() has something to do next.
  TimeNs round_due_at() noexcept;
  /// When keep_time() has something to judge of this peer next; silence is counted from now on where it was not.
  TimeNs due_at(Peer& peer) const noexcept;
  /// Asks peers that owe an acknowledgement for it (a probe answers with one).
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
  bool late_ = false;  // this look comes long after the last one
};

}  // namespace livebtl::core
