// SPDX-License-Identifier: BSD-3-Clause
// core/switch/hold.h -- HOLD: while the machines that a job runs on are saved in a snapshot, each
// process parks what it sends at a frame boundary, so that no channel between them holds anything.
//
// Threads: under the engine's lock.
// Rules:   docs/HOLD.md. A pair is parked the way a switch drains it: it leaves its path by a
//          marker, for no other, and takes it up again afterwards. What the application sends waits
//          in its queue; it may take what it receives. The lease ends a hold whose orchestrator has
//          vanished; such a hold stays broken, since frames have moved. So does one into which a
//          process has sent that was not held with the others. Model: tests/model/hold.pml.
#pragma once

#include "base/log.h"
#include "core/engine/admin.h"
#include "core/engine/parts.h"

namespace livebtl::core {

class Hold {
 public:
  Hold(Context& context, Peers& peers, Elector& elector, Losses& losses, const Switching& switching)
      : context_(context),
        peers_(peers),
        elector_(elector),
        losses_(losses),
        switching_(switching) {}

  HoldReport start(const HoldOrder& order);
  HoldReport end(std::uint64_t id);
  HoldReport claim(const HoldClaim& claim, TimeNs lease);
  HoldReport restore(const HoldClaim& claim, Incarnation to);
  HoldReport report() const;
  /// The same, without what it waits for.
  HoldReport summary() const;

  /// Is sending forbidden now?
  bool parks() const noexcept {
    return state_ == HoldState::kParking || state_ == HoldState::kParked ||
           state_ == HoldState::kFenced;
  }
  /// Another process has proved that it is of that incarnation of the job.
  void meets(Incarnation theirs) noexcept;
  bool at_work() const noexcept { return state_ == HoldState::kParking; }
  /// Checks whether all is parked. Cheap when nothing is to be parked.
  void tick() noexcept {
    if (at_work()) [[unlikely]]
      look();
  }
  /// Checks whether the hold is broken. Called at housekeeping.
  void keep_time() noexcept {
    if (parks()) [[unlikely]]
      watch();
  }
  /// When keep_time() has something to do next, if no frame comes.
  TimeNs due_at() const noexcept {
    return parks() && state_ != HoldState::kFenced ? until_ : kNoDeadline;
  }

 private:
  void look() noexcept;
  void watch() noexcept;
  void break_up(LogLevel level, const char* why) noexcept;
  void release() noexcept;
  void shut_out() noexcept;
  HoldReport refused(std::string why) const;

  Context& context_;
  Peers& peers_;
  Elector& elector_;
  Losses& losses_;
  const Switching& switching_;
  std::uint64_t id_ = 0;
  HoldState state_ = HoldState::kNone;
  std::uint64_t ended_ = 0;  // the last one that was ended: a late order for it is refused
  TimeNs until_ = 0;
  std::uint32_t members_ = 0;  // parked at the same time as this one; 0: not known yet
  std::uint64_t taken_ = 0;    // frames that had come by then
  bool claimed_ = false;       // for a restore
  std::uint64_t claim_ = 0;    // the highest number that was followed
  const char* why_ = "";
};

}  // namespace livebtl::core
