// SPDX-License-Identifier: BSD-3-Clause
// control/client/drive.cc -- see drive.h.
#include "control/client/drive.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

namespace livebtl::control {
namespace {

/// How soon `stop` is noticed, or a member that leaves while its answer is awaited.
constexpr TimeNs kLongestSleep = 100 * kMillisecond;

template <class Machine, class Progress>
class Driver {
 public:
  using Event = typename Machine::Event;
  using OnProgress = std::function<void(const Progress&)>;

  template <class What>
  Driver(JobLinks& links, const What& command, const OnProgress& on_progress)
      : links_(links), machine_(command, monotonic_now()), on_progress_(on_progress) {}

  std::optional<Outcome> run(const std::atomic<bool>& stop) {
    feed(Tick{});
    while (!machine_.done()) {
      if (stop.load()) return std::nullopt;
      auto heard = links_.receive(time_to_sleep());
      if (monotonic_now() >= look_at_) {
        for (const MemberGone& gone : newly_gone()) feed(gone);
      }
      if (heard) hear(std::move(*heard));
      // Messages may keep coming that mean nothing to the machine; its time must still pass.
      if (!heard || monotonic_now() >= machine_.wake_at()) feed(Tick{});
    }
    return named(machine_.outcome());
  }

 private:
  TimeNs time_to_sleep() const {
    const TimeNs now = monotonic_now();
    return std::clamp<TimeNs>(std::min(machine_.wake_at(), look_at_) - now, 0, kLongestSleep);
  }

  void hear(JobLinks::Heard heard) {
    // Their ranks come with the next look for members, which reports them again.
    for (const MemberId& gone : heard.merged.gone) feed(MemberGone{gone, -1});
    if constexpr (requires { Event(Standings{}); }) {
      if (!heard.merged.standings.empty())
        return feed(Standings{std::move(heard.merged.standings)});
    }
    if (auto event = event_in(std::move(heard))) feed(std::move(*event));
  }

  /// An answer that the machine takes, in the sender's own name only.
  static std::optional<Event> event_in(JobLinks::Heard heard) {
    return std::visit(
        [&heard](auto& message) -> std::optional<Event> {
          if constexpr (requires { Event(message), message.member; }) {
            if (message.member == heard.from) return std::move(message);
          }
          return std::nullopt;
        },
        heard.message);
  }

  /// A member that never answered is named by its file.
  Outcome named(Outcome outcome) const {
    for (Straggler& straggler : outcome.stragglers) {
      for (const MemberEntry& member : links_.found().live) {
        if (!straggler.name.empty() || member.member != straggler.member) continue;
        straggler.name = member.name;
        straggler.rank = member.rank;
      }
    }
    const bool says_so = !outcome.stragglers.empty() || !outcome.missing_ranks.empty();
    const auto silent = says_so ? links_.silent_relays() : std::vector<std::string>();
    for (std::size_t i = 0; i < silent.size() && i < kNamesMax; ++i)
      outcome.text += (i == 0 ? "; no relay answers at " : ", ") + silent[i];
    return outcome;
  }

  void feed(Event event) {
    std::deque<Event> events;
    events.push_back(std::move(event));
    while (!events.empty()) {
      const auto actions = machine_.step(events.front(), monotonic_now());
      events.pop_front();
      sends_.clear();
      for (const auto& action : actions)
        std::visit([&](const auto& wanted) { note_send(wanted); }, action);
      if (!sends_.empty()) links_.send(sends_);  // first: a scan may take long
      for (const auto& action : actions)
        std::visit([&](const auto& wanted) { carry_out(wanted, events); }, action);
    }
  }

  void note_send(const Send& send) { sends_.push_back(send); }
  template <class Other>
  void note_send(const Other&) {}
  void carry_out(const Send&, std::deque<Event>&) {}  // sent already, with all others
  void carry_out(const HoldSend& send, std::deque<Event>&) { links_.send(send.to, send.request); }
  void carry_out(const Progress& progress, std::deque<Event>&) {
    if (on_progress_) on_progress_(progress);
  }

  /// Scans for members, and returns those newly proved gone. The machine asks for a scan only
  /// between two rungs, but a process that ends during one must not be taken for a straggler.
  std::vector<MemberGone> newly_gone() {
    std::vector<MemberGone> news;
    for (const MemberEntry& gone : links_.scan().gone) {
      if (told_gone_.insert(gone.member).second) news.push_back({gone.member, gone.rank});
    }
    look_at_ = monotonic_now() + kLongestSleep;
    return news;
  }

  void carry_out(const Scan& scan, std::deque<Event>& events) {
    for (const MemberGone& gone : newly_gone()) events.emplace_back(gone);
    MembersFound answer;
    answer.scan = scan.number;
    for (const MemberEntry& live : links_.found().live) answer.members.push_back(live.member);
    events.emplace_back(std::move(answer));
  }

  JobLinks& links_;
  Machine machine_;
  const OnProgress& on_progress_;
  std::set<MemberId> told_gone_;
  std::vector<Send> sends_;
  TimeNs look_at_ = 0;
};

}  // namespace

std::optional<Outcome> drive(JobLinks& links, const Command& command,
                             const std::function<void(const Progress&)>& on_progress,
                             const std::atomic<bool>& stop) {
  return Driver<CoordinatorMachine, Progress>(links, command, on_progress).run(stop);
}

std::optional<Outcome> drive(JobLinks& links, const HoldCommand& command,
                             const std::function<void(const HoldProgress&)>& on_progress,
                             const std::atomic<bool>& stop) {
  return Driver<HoldMachine, HoldProgress>(links, command, on_progress).run(stop);
}

}  // namespace livebtl::control
