// SPDX-License-Identifier: BSD-3-Clause
// control/agent/takeover.cc -- see takeover.h.
#include "control/agent/takeover.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/log.h"
#include "control/client/drive.h"

namespace livebtl::control {

Takeover::Takeover(const JobFacts& job, MemberId self, std::function<void()> bell)
    : job_(job), self_(self), bell_(std::move(bell)), watch_(random_u64()) {}

Takeover::~Takeover() {
  stop_.store(true);
  if (thread_.joinable()) thread_.join();
}

TimeNs Takeover::wake_at(const MemberMachine& member) const noexcept {
  return thread_.joinable() ? INT64_MAX : watch_.due_at(member);
}

void Takeover::turn(const MemberMachine& member, std::optional<bool> relays, TimeNs now) {
  if (thread_.joinable()) {
    const Result result = result_.load();
    if (result == Result::kNone) return;
    thread_.join();
    if (result == Result::kNotOurs) return watch_.not_ours(now);
    return watch_.tried(result == Result::kInVain, now);
  }
  if (!watch_.due(member, now)) return;
  if (relays ? *relays : lowest_here()) return start();
  watch_.not_ours(now);
}

/// Of the members of this node; they are sorted by rank.
bool Takeover::lowest_here() const {
  const auto cards = scan_members(job_.directory, ::geteuid()).live;
  const auto first =
      std::find_if(cards.begin(), cards.end(), [](const MemberCard& card) { return card.joined; });
  return first != cards.end() && first->member == self_;
}

/// The new thread has the agent's signal mask: all signals go to the application's threads.
void Takeover::start() {
  result_.store(Result::kNone);
  try {
    thread_ = std::thread([this] {
      ::pthread_setname_np(::pthread_self(), "livebtl-finish");
      result_.store(finish_ladder());
      bell_();
    });
  } catch (const std::system_error& error) {
    log(LogLevel::kWarn, "agent", "cannot finish a switch that was left: %s", error.what());
    watch_.tried(true, monotonic_now());
  }
}

Takeover::Result Takeover::finish_ladder() const {
  auto links = JobLinks::open({job_.id, job_.directory, ::geteuid(), {}});
  if (!links) return Result::kInVain;
  const std::string node = process_name(ProcessId{job_.node});
  const auto& live = links->found().live;
  const bool lowest = std::none_of(live.begin(), live.end(),
                                   [&](const MemberEntry& each) { return each.node < node; });
  if (!lowest) return Result::kNotOurs;
  const auto outcome = drive(*links, takeover_command(job_.id, random_u64()), {}, stop_);
  if (!outcome) return Result::kInVain;
  const bool done = outcome->code == ExitCode::kDone || outcome->code == ExitCode::kForeign;
  if (!outcome->already) {
    log(done ? LogLevel::kInfo : LogLevel::kWarn, "agent",
        "a switch whose coordinator fell silent was taken over: %s", outcome->text.c_str());
  }
  return done ? Result::kDone : Result::kInVain;
}

}  // namespace livebtl::control
