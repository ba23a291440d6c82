// SPDX-License-Identifier: BSD-3-Clause
// core/engine/page_writer.h -- copies an engine's counters into its member's page, at moments that
// come anyway: the housekeeping of the thread that moves the engine, and the agent's turns.
//
// Counters are read in place, by the thread that holds the lock and so has just used them; others
// read the copy. No system call is made, and nothing that a message touches is written.
// Threads: under the engine's lock. The agent owns the page, which outlives its use here.
#pragma once

#include "base/clock.h"
#include "core/engine/engine_page.h"
#include "core/engine/parts.h"

namespace livebtl::core {

struct Core;

class PageWriter {
 public:
  explicit PageWriter(Core& core) noexcept : core_(core) {}

  /// The page to write from now on; null: none.
  void show_on(EnginePageLatch* page) noexcept;
  /// At housekeeping: copies five times a second.
  void keep_time(TimeNs now) noexcept {
    if (page_ != nullptr && now - written_ >= kPause + slack_) write(now);
  }
  /// At the end of an agent's turn, after which nothing may move for long. moved: something has
  /// moved in this turn, after its housekeeping.
  void before_sleep(TimeNs now, bool moved) noexcept;
  /// When before_sleep() is to be called again, if it was too early for another copy.
  TimeNs due_at() const noexcept;

 private:
  static constexpr TimeNs kPause = 200 * kMillisecond;
  static constexpr TimeNs kPauseOfAgent = 10 * kMillisecond;
  static constexpr TimeNs kSlackOfPeer = 100 * kMicrosecond;  // far more than its copy takes

  void write(TimeNs now) noexcept;
  void write_transports(EnginePage& page) const noexcept;
  void write_peers(EnginePage& page) const noexcept;
  void write_peer(const Peer& peer, EnginePage& page) const noexcept;
  void write_paths(const Peer& peer, EnginePage& page, PeerPage& to) const noexcept;
  PeerPage* shown_anyway(const Peer& peer, EnginePage& page) const noexcept;
  void write_awaited(EnginePage& page) const noexcept;
  void write_untaken(EnginePage& page) const noexcept;
  void write_losses(EnginePage& page) const noexcept;
  void write_hold(HoldPage& page) const noexcept;
  std::uint8_t index_of(const TransportSlot& slot) const noexcept;

  Core& core_;
  EnginePageLatch* page_ = nullptr;
  TimeNs written_ = 0;
  TimeNs slack_ = 0;     // for a process with many peers
  bool behind_ = false;  // something may have changed since
};

}  // namespace livebtl::core
