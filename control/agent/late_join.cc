// SPDX-License-Identifier: BSD-3-Clause
// control/agent/late_join.cc -- see late_join.h.
#include "control/agent/late_join.h"

#include <algorithm>

#include "base/log.h"

namespace livebtl::control {
namespace {

constexpr TimeNs kGiveUpAfter = 10 * kSecond;
constexpr TimeNs kQuestionsEvery = 50 * kMillisecond;
constexpr std::size_t kFellowsAsked = 4;
constexpr std::size_t kRelaysAsked = 4;

}  // namespace

LateJoin::LateJoin(const JobFacts& job, ProcessId self, core::Admin& admin, Router& router,
                   TimeNs now)
    : job_(job),
      self_(self),
      admin_(admin),
      router_(router),
      deadline_(now + kGiveUpAfter),
      ask_at_(now) {}

TimeNs LateJoin::wake_at() const noexcept { return found_ ? 0 : std::min(ask_at_, deadline_); }

std::optional<MemberEvent> LateJoin::turn(TimeNs now) {
  if (found_) return JoinFrom{*found_, true};
  if (now >= deadline_) {
    log(LogLevel::kWarn, "agent",
        "spawned on a node of its own, and no process of the job has answered in 10 s: if there "
        "are others, switches will be refused until this process ends");
    return JoinAsFirst{};
  }
  if (now < ask_at_) return std::nullopt;
  ask_at_ = now + kQuestionsEvery;
  ask();
  return std::nullopt;
}

/// We do not know which relay leads to whom; each refuses what is not on its node. A relay's own
/// answers come back under this process's name.
void LateJoin::ask() {
  const auto who = encode(MembersRequest{job_.id, 0});
  const auto where = encode(StandingRequest{job_.id});
  if (!who || !where) return;
  std::vector<std::string> relays = admin_.relays();
  relays.resize(std::min(relays.size(), kRelaysAsked));
  for (const std::string& relay : relays) {
    if (relay == router_.relay()) continue;
    if (fellows_.empty()) router_.ask({relay, ProcessId{}}, self_, *who);
    for (const ProcessId fellow : fellows_) router_.ask({relay, fellow}, fellow, *where);
  }
}

void LateJoin::hear(const Router::Answered& answer) {
  const auto message = decode(answer.body);
  if (!message) return;
  if (const auto* page = std::get_if<MembersAnswer>(&*message)) {
    if (answer.asked == self_) learn(*page);
  } else if (const auto* standing = std::get_if<Standing>(&*message)) {
    const bool asked = std::find(fellows_.begin(), fellows_.end(), answer.asked) != fellows_.end();
    if (asked && standing->member.process == answer.asked && !standing->joining) found_ = *standing;
  }
}

void LateJoin::learn(const MembersAnswer& page) {
  for (const MemberEntry& member : page.members) {
    const ProcessId process = member.member.process;
    const bool known = std::find(fellows_.begin(), fellows_.end(), process) != fellows_.end();
    if (!known && !member.gone && process != self_ && fellows_.size() < kFellowsAsked)
      fellows_.push_back(process);
  }
  ask_at_ = 0;
}

}  // namespace livebtl::control
