// SPDX-License-Identifier: BSD-3-Clause
// control/drive.cc -- see drive.h.
#include "control/drive.h"

#include <algorithm>
#include <deque>
#include <set>

namespace livebtl::control {
namespace {

constexpr TimeNs kLongestSleep = 200 * kMillisecond;  // how soon `stop` is noticed

class Driver {
 public:
  Driver(JobLinks& links, const Command& command,
         const std::function<void(const Progress&)>& on_progress)
      : links_(links), machine_(command, monotonic_now()), on_progress_(on_progress) {}

  std::optional<Outcome> run(const std::atomic<bool>& stop) {
    feed(Tick{});
    while (!machine_.done()) {
      if (stop.load()) return std::nullopt;
      const TimeNs sleep = machine_.wake_at() - monotonic_now();
      const auto heard = links_.receive(std::clamp<TimeNs>(sleep, 0, kLongestSleep));
      if (!heard) {
        feed(Tick{});
      } else if (const auto* standing = std::get_if<Standing>(&heard->message)) {
        if (standing->member == heard->from) feed(*standing);
      } else if (const auto* plan = std::get_if<PlanAnswer>(&heard->message)) {
        if (plan->member == heard->from) feed(*plan);
      }
    }
    return named(machine_.outcome());
  }

 private:
  /// A member that never answered is known by its file.
  Outcome named(Outcome outcome) const {
    for (Straggler& straggler : outcome.stragglers) {
      for (const MemberEntry& member : links_.found().live) {
        if (!straggler.name.empty() || member.member != straggler.member) continue;
        straggler.name = member.name;
        straggler.rank = member.rank;
      }
    }
    return outcome;
  }

  void feed(const CoordinatorEvent& event) {
    std::deque<CoordinatorEvent> events{event};
    while (!events.empty()) {
      const auto actions = machine_.step(events.front(), monotonic_now());
      events.pop_front();
      for (const auto& action : actions) carry_out(action, events);
    }
  }

  void carry_out(const CoordinatorAction& action, std::deque<CoordinatorEvent>& events) {
    if (const auto* send = std::get_if<Send>(&action)) {
      std::visit([&](const auto& request) { links_.send(send->to, request); }, send->request);
    } else if (const auto* scan = std::get_if<Scan>(&action)) {
      look_for_members(*scan, events);
    } else if (on_progress_) {
      on_progress_(std::get<Progress>(action));
    }
  }

  void look_for_members(const Scan& scan, std::deque<CoordinatorEvent>& events) {
    const JobLinks::Found& found = links_.scan();
    for (const MemberEntry& gone : found.gone) {
      if (told_gone_.insert(gone.member).second) {
        events.emplace_back(MemberGone{gone.member, gone.rank});
      }
    }
    MembersFound answer;
    answer.scan = scan.number;
    for (const MemberEntry& live : found.live) answer.members.push_back(live.member);
    events.emplace_back(std::move(answer));
  }

  JobLinks& links_;
  CoordinatorMachine machine_;
  const std::function<void(const Progress&)>& on_progress_;
  std::set<MemberId> told_gone_;
};

}  // namespace

std::optional<Outcome> drive(JobLinks& links, const Command& command,
                             const std::function<void(const Progress&)>& on_progress,
                             const std::atomic<bool>& stop) {
  return Driver(links, command, on_progress).run(stop);
}

}  // namespace livebtl::control
