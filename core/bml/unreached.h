// SPDX-License-Identifier: BSD-3-Clause
// core/bml/unreached.h -- peers that no known address reaches: lists them for the control plane,
// which asks where they listen, and takes what it finds out.
//
// Threads: under the engine's lock, except seeks().
#pragma once

#include <atomic>
#include <vector>

#include "core/engine/admin.h"
#include "core/engine/parts.h"
#include "core/lane/peer.h"

namespace livebtl::core {

class Unreached {
 public:
  Unreached(const Context& context, Peers& peers, Slots& slots)
      : context_(context), peers_(peers), slots_(slots) {}

  /// No transport reaches this peer: logs it once, after a second.
  void note_cut_off(Peer& peer) noexcept;
  /// Has the control plane ask for this peer. Cheap: called whenever such a peer is looked at.
  void seek(const Peer& peer) noexcept;
  /// list() may name somebody. Any thread.
  bool seeks() const noexcept { return seeks_.load(std::memory_order_relaxed); }
  /// Sorted.
  std::vector<ProcessId> list();
  /// The unreached peer with that id; null: there is none.
  Peer* find(ProcessId process) noexcept;
  /// in: what a process is said to have answered; unproved until its hello. out: at most, further
  /// addresses to dial of a peer that is sought, for transports that this process has.
  void introduce(ProcessId process, const Contacts& addresses);

 private:
  bool is_unreached(const Peer& peer) const noexcept;

  const Context& context_;
  Peers& peers_;
  Slots& slots_;
  std::atomic<bool> seeks_{false};
};

}  // namespace livebtl::core
