// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/takeover_watch.cc -- see takeover_watch.h.
#include "control/ladder/takeover_watch.h"

#include <algorithm>
#include <utility>

namespace livebtl::control {
namespace {

constexpr TimeNs kDelayLeast = kSecond;
constexpr TimeNs kDelaySpread = 2 * kSecond;
constexpr TimeNs kOverslept = kSecond;
constexpr TimeNs kLookAgain = 2 * kSecond;
constexpr std::size_t kLooksMost = 4;
constexpr TimeNs kPauseLeast = 2 * kSecond;
constexpr TimeNs kPauseMost = 60 * kSecond;

}  // namespace

TakeoverWatch::TakeoverWatch(std::uint64_t random) noexcept
    : delay_(kDelayLeast + static_cast<TimeNs>(random % static_cast<std::uint64_t>(kDelaySpread))) {
}

TimeNs TakeoverWatch::due_at(const MemberMachine& member) const noexcept {
  const auto since = member.abandoned_since();
  return since ? std::max(*since + kCoordinatorLease + delay_, not_before_) : INT64_MAX;
}

bool TakeoverWatch::due(const MemberMachine& member, TimeNs now) noexcept {
  const TimeNs at = due_at(member);
  if (now < at) return false;
  const TimeNs since = *member.abandoned_since();
  if (std::exchange(since_, since) != since) looks_ = 0;
  if (now - at < kOverslept || overslept_) return true;
  overslept_ = true;
  not_before_ = now + delay_;
  return false;
}

void TakeoverWatch::not_ours(TimeNs now) noexcept {
  not_before_ = now + kLookAgain;
  overslept_ = false;
  ++looks_;
}

bool TakeoverWatch::left_alone(std::size_t before_us) const noexcept {
  return looks_ >= kLooksMost + before_us;
}

void TakeoverWatch::tried(bool in_vain, TimeNs now) noexcept {
  pause_ = in_vain ? std::clamp(2 * pause_, kPauseLeast, kPauseMost) : 0;
  not_before_ = now + pause_;
  overslept_ = false;
}

Command takeover_command(std::string job, std::uint64_t coordinator) {
  Command command;
  command.job = std::move(job);
  command.verb = "resume";
  command.by_itself = true;
  command.coordinator = (coordinator | 2) & ~std::uint64_t{1};
  command.operation = coordinator | 1;  // begins no ladder of its own
  return command;
}

}  // namespace livebtl::control
