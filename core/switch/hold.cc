// SPDX-License-Identifier: BSD-3-Clause
// core/switch/hold.cc -- see hold.h.
#include "core/switch/hold.h"

#include <utility>

#include "base/hex.h"
#include "base/log.h"
#include "core/bml/elector.h"
#include "core/bml/losses.h"
#include "core/bml/peers.h"
#include "core/engine/context.h"
#include "core/switch/switching.h"

namespace livebtl::core {
namespace {

constexpr std::size_t kWaitingMax = 32;
constexpr const char* kFencedOut =
    "a newer incarnation of the job runs, and this process is a copy that was left behind; end it";
constexpr const char* kOutdone = "another `job restored` has claimed it since";

}  // namespace

HoldReport Hold::start(const HoldOrder& order) {
  const std::uint64_t id = order.id;
  LIVEBTL_ASSERT(id != 0 && order.lease > 0 && order.job != Incarnation{},
                 "control checks what it was sent");
  if (state_ == HoldState::kFenced) return refused(kFencedOut);
  if (parks() && id != id_)
    return refused("it is held by " + hex_id(id_) + " already; end that, or wait for its lease");
  if (state_ == HoldState::kBroken)
    return refused("hold " + hex_id(id_) + " was broken (" + why_ +
                   "); end it before another begins");
  if (id == ended_) return refused("this hold has ended; start another");
  if (!parks() && !switching_.at_rest())
    return refused("a switch is at work or was left unfinished; resume or abort it first");
  until_ = context_.now + order.lease;
  if (!parks()) {
    id_ = id;
    members_ = 0;
    state_ = HoldState::kParking;
    if (context_.fence.settle(order.job)) losses_.close_unopened();
    peers_.for_each([&](Peer& peer) { elector_.park(peer); });
    log(LogLevel::kInfo, "hold", "%s: parking", hex_id(id).c_str());
  }
  if (order.members != 0 && state_ == HoldState::kParked) {
    // A renewal keeps the count taken for the seal.
    if (order.members != members_) taken_ = peers_.frames_taken();
    members_ = order.members;
  }
  return report();
}

HoldReport Hold::end(std::uint64_t id) {
  if (id != id_ || state_ == HoldState::kNone || state_ == HoldState::kFenced) return report();
  if (claimed_)
    return refused(
        "a restore from it is at work or was left half done; `btlctl job restored` "
        "finishes it");
  if (parks()) release();
  log(LogLevel::kInfo, "hold", "%s: ended", hex_id(id).c_str());
  ended_ = std::exchange(id_, 0);
  members_ = 0;
  state_ = HoldState::kNone;
  return report();
}

// Followed even if the lease has run out, or the process is already raised: the claimant learns
// that from the answer, and an earlier claimant can no longer raise anybody.
HoldReport Hold::claim(const HoldClaim& claim, TimeNs lease) {
  LIVEBTL_ASSERT(claim.hold != 0 && lease > 0, "control checks what it was sent");
  const bool raised = context_.fence.restored_from() == claim.hold;
  if (claim.hold != id_ && !raised) return refused("it is not held by " + hex_id(claim.hold));
  if (claim.number < claim_) return refused(kOutdone);
  claim_ = claim.number;
  if (claim.hold == id_ && state_ == HoldState::kParked) {
    until_ = context_.now + lease;
    claimed_ = !raised;  // a late claim binds nobody who is raised
  }
  return report();
}

// A hold that broke after it was found whole (the orchestrator of the restore was killed, and the
// lease ran out) has done its duty: the streams are as they were, or have gone on among members of
// this set.
HoldReport Hold::restore(const HoldClaim& claim, Incarnation to) {
  const std::uint64_t id = claim.hold;
  const Incarnation own = context_.fence.own();
  const bool raised = id != 0 && context_.fence.restored_from() == id;
  if (raised && own == to) return report();
  if (raised)
    return refused("it was raised to incarnation " +
                   std::to_string(static_cast<std::uint32_t>(own)) + " already");
  if (claim.number < claim_) return refused(kOutdone);
  if (to <= own) return refused("its incarnation is not below the ordered one");
  if (id == 0 || id != id_ || state_ == HoldState::kParking)
    return refused("it was not restored from a snapshot of hold " + hex_id(id));
  log(LogLevel::kInfo, "hold", "%s: restored; this is incarnation %u of the job",
      hex_id(id).c_str(), static_cast<unsigned>(to));
  context_.fence.raise(to, id);
  claimed_ = false;
  losses_.close_connections();
  if (state_ == HoldState::kFenced) break_up(LogLevel::kWarn, "it was fenced out in between");
  return report();
}

// For good: only restore() takes this process in again.
void Hold::shut_out() noexcept {
  log(LogLevel::kError, "hold",
      "fenced out: a newer incarnation of the job runs; this process is a copy that was left "
      "behind, and will send nothing any more: end it");
  peers_.for_each([&](Peer& peer) { elector_.park(peer); });
  state_ = HoldState::kFenced;
  losses_.close_connections();
  context_.notify_control();
}

// A process that is held may be about to be restored, and is judged when that is over.
void Hold::meets(Incarnation theirs) noexcept {
  if (parks()) return;
  const Fence::Meeting meeting = context_.fence.meet(theirs);
  if (meeting == Fence::Meeting::kAdopted) losses_.close_unopened();
  if (meeting == Fence::Meeting::kFenced) shut_out();
}

HoldReport Hold::summary() const {
  HoldReport report;
  report.id = id_;
  report.state = state_;
  report.claimed = claimed_;
  report.claim = claim_;
  report.members = members_;
  report.incarnation = context_.fence.own();
  report.restored_from = context_.fence.restored_from();
  if (state_ == HoldState::kBroken) report.why = why_;
  if (state_ == HoldState::kFenced) report.why = kFencedOut;
  if (state_ == HoldState::kParking || state_ == HoldState::kParked)
    report.left_ms =
        static_cast<std::uint32_t>(std::max<TimeNs>(0, until_ - context_.now) / kMillisecond);
  return report;
}

HoldReport Hold::report() const {
  HoldReport report = summary();
  if (state_ != HoldState::kParking) return report;
  peers_.for_each([&](const Peer& peer) {
    const std::string what = elector_.still_on_its_way(peer);
    if (!what.empty() && report.waiting.size() < kWaitingMax)
      report.waiting.push_back(peer.name() + ": " + what);
  });
  return report;
}

HoldReport Hold::refused(std::string why) const {
  HoldReport refused = report();
  refused.refusal = std::move(why);
  return refused;
}

// A path that opens while others are still being parked is checked here, too.
void Hold::look() noexcept {
  bool parked = !losses_.pending();
  peers_.for_each(
      [&](const Peer& peer) { parked = parked && elector_.still_on_its_way(peer).empty(); });
  if (!parked) return;
  state_ = HoldState::kParked;
  log(LogLevel::kInfo, "hold", "%s: parked", hex_id(id_).c_str());
  context_.notify_control();
}

void Hold::watch() noexcept {
  if (state_ == HoldState::kFenced) return;
  if (context_.now >= until_) return break_up(LogLevel::kWarn, "its lease ran out");
  // An end whose order has reached the sender first also begins this way: nothing to warn of.
  if (members_ != 0 && peers_.frames_taken() != taken_)
    break_up(LogLevel::kInfo, "a process that was not held has sent to it");
}

// The orchestrator finds that out when it seals the set.
void Hold::break_up(LogLevel level, const char* why) noexcept {
  why_ = why;
  log(level, "hold", "%s: broken: %s; sending goes on, and a snapshot taken meanwhile is of no use",
      hex_id(id_).c_str(), why);
  release();
  state_ = HoldState::kBroken;
  context_.notify_control();
}

void Hold::release() noexcept {
  state_ = HoldState::kNone;
  claimed_ = false;
  peers_.for_each([&](Peer& peer) { elector_.unpark(peer); });
}

}  // namespace livebtl::core
