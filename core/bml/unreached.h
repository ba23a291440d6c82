// SPDX-License-Identifier: BSD-3-Clause
// core/bml/unreached.h -- peers that none of the addresses reaches which are known of them: which they
// are, for the control plane to ask where they listen, and what it has found out.
//
// Threads: under the engine's lock, but for seeks().
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

  /// No transport reaches this peer: says so once, after a second.
  void note_cut_off(Peer& peer) noexcept;
  /// The control plane is to ask for this peer. Cheap: called whenever such a peer is looked at.
  void seek(const Peer& peer) noexcept;
  /// list() may name somebody. Any thread.
  bool seeks() const noexcept { return seeks_.load(std::memory_order_relaxed); }
  /// Sorted.
  std::vector<ProcessId> list();
  /// Such a peer, by its id; null: it is none.
  Peer* find(ProcessId process) noexcept;
  /// in: what a process is said to have answered; nobody has proved it, the hello will. out: no more
  /// than further addresses to dial of a peer that is sought, by transports that this process has.
  void introduce(ProcessId process, const Contacts& addresses);

 private:
  bool is_unreached(const Peer& peer) const noexcept;

  const Context& context_;
  Peers& peers_;
  Slots& slots_;
  std::atomic<bool> seeks_{false};
};

}  // namespace livebtl::core
