// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/run/announce.cc -- see announce.h.
#include "ctl-tool/run/announce.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <optional>
#include <set>

#include "base/clock.h"
#include "base/fd.h"
#include "base/process_mark.h"
#include "control/client/job_links.h"
#include "ctl-tool/ask.h"
#include "ctl-tool/choose_job.h"
#include "ctl-tool/table.h"

namespace livebtl::tool {
namespace {

/// More often at first, to catch short jobs as well; ever less often once the job was reported late:
/// it may never come up, and each look asks all of its processes.
constexpr int kLookAtFirstMs = 20, kLookEveryMs = 100, kLookLateMs = 5'000, kLookSeldomMs = 60'000;
constexpr TimeNs kFirst = 2'000 * kMillisecond;
constexpr TimeNs kAnswerTimeout = 2'000 * kMillisecond;
/// A job whose processes have all joined, but do not talk yet, is announced after this time.
constexpr TimeNs kTalkTimeout = 2'000 * kMillisecond;
/// Slurm may first wait for nodes.
constexpr TimeNs kLate = 15'000 * kMillisecond, kLateUnderSlurm = 60'000 * kMillisecond;
constexpr int kAncestorsMax = 64;

void say(const std::string& text) { std::fprintf(stderr, "livebtl: %s\n", text.c_str()); }

bool uses(const core::TransportStatus& transport) {
  const std::uint32_t own = transport.own_pair ? 1 : 0;
  return transport.peers > own || transport.bulk_peers > own;
}

std::optional<pid_t> parent_in_proc(pid_t pid) {
  const auto stat = read_process_stat(pid);
  return stat ? std::optional<pid_t>(stat->parent) : std::nullopt;
}

/// Looks for the one job that a launcher has started.
class Announcer {
 public:
  Announcer(pid_t launcher, Fd launcher_ends, bool by_descent, std::set<std::string> known)
      : launcher_(launcher),
        launcher_ends_(std::move(launcher_ends)),
        by_descent_(by_descent),
        known_(std::move(known)) {}

  void run() {
    while (!launcher_has_ended()) {
      const auto job = find();
      if (job && announce(*job)) return;
      const TimeNs late = by_descent_ ? kLate : kLateUnderSlurm;
      if (monotonic_now() - began_ < late) continue;
      const bool first = pause_ms_ == kLookEveryMs;
      pause_ms_ = first ? kLookLateMs : std::min(2 * pause_ms_, kLookSeldomMs);
      if (first) say_late(late / (1'000 * kMillisecond), job ? job->id : "");
    }
    say(!line_.empty() ? line_
                       : "the job ended before a process of it on this node was seen over livebtl "
                         "(btlctl doctor)");
  }

 private:
  bool launcher_has_ended() const {
    pollfd wanted{launcher_ends_.number(), POLLIN, 0};
    const bool first = monotonic_now() - began_ < kFirst;
    return ::poll(&wanted, 1, first ? kLookAtFirstMs : pause_ms_) > 0;
  }

  static void say_late(TimeNs seconds, const std::string& job) {
    const std::string in = " in " + std::to_string(seconds) + " s";
    say(job.empty() ? "no process on this node has come up over livebtl" + in +
                          ": the job runs on other nodes, or not over livebtl (btlctl doctor)"
                    : "not all processes of job " + printable(job) + " have come up" + in +
                          " (btlctl status; btlctl doctor)");
  }

  bool is_ours(const control::JobPlace& job) const {
    const auto& live = job.members.live;
    if (!by_descent_) return !live.empty() && !known_.contains(job.id);
    return std::any_of(live.begin(), live.end(), [this](const control::MemberCard& card) {
      return descends(card.mark.pid, launcher_, parent_in_proc);
    });
  }

  std::optional<control::JobPlace> find() const {
    for (auto& job : all_jobs(::geteuid())) {
      if (is_ours(job)) return std::move(job);
    }
    return std::nullopt;
  }

  bool announce(const control::JobPlace& job) {
    auto links = control::JobLinks::open(job);
    Asker<control::StatusAnswer> asker(links, kAnswerTimeout, stop_);
    const auto heard = asker.ask_all(control::StatusRequest{job.id, false, 0});
    const std::string line = heard.silent.empty() ? up_line(job.id, heard.answers) : "";
    if (line.empty()) return false;
    line_ = line;
    if (up_since_ == 0) up_since_ = monotonic_now();
    if (!all_talk(heard.answers) && monotonic_now() - up_since_ < kTalkTimeout) return false;
    say(line);
    return true;
  }

  const pid_t launcher_;
  const Fd launcher_ends_;
  const bool by_descent_;
  const std::set<std::string> known_;
  const TimeNs began_ = monotonic_now();
  TimeNs up_since_ = 0;
  int pause_ms_ = kLookEveryMs;
  std::string line_;  // of a job that is up, but does not talk yet
  const std::atomic<bool> stop_{false};
};

/// Keeps only standard error of the launcher's streams: readers of the others must not wait for us.
void leave_streams() {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0) return;
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::close(nothing);
}

}  // namespace

bool descends(pid_t pid, pid_t ancestor, const ParentOf& parent) {
  // In a container the launcher may itself be process 1, whose parent is 0.
  std::optional<pid_t> each = pid;
  for (int i = 0; i < kAncestorsMax && each.value_or(0) > 0; ++i) {
    if (*each == ancestor) return true;
    each = parent(*each);
  }
  return false;
}

std::string up_line(const std::string& job, const StatusAnswers& answers) {
  std::set<std::string> nodes, names;
  std::uint32_t announced = 0, ranks = 0;
  for (const auto& [member, answer] : answers) {
    if (answer.standing.joining) return "";
    announced = std::max(announced, answer.standing.announced);
    ranks += member.rank >= 0 ? 1 : 0;
    nodes.insert(member.node);
    for (const auto& transport : answer.engine.transports) {
      if (uses(transport)) names.insert(transport.name);
    }
  }
  if (answers.empty() || ranks < announced) return "";
  // Within a node first, then between nodes.
  std::vector<std::string> ordered;
  for (const char* first : {"self", "sm"}) {
    if (names.erase(first) != 0) ordered.emplace_back(first);
  }
  for (const std::string& name : names) ordered.push_back(printable(name));
  return counted(answers.size(), "rank", "ranks") + " on " +
         counted(nodes.size(), "node", "nodes") + ", " +
         (ordered.empty() ? "no messages yet" : join(ordered, " + ")) + ", job " + printable(job) +
         " (btlctl status)";
}

bool all_talk(const StatusAnswers& answers) {
  return std::all_of(answers.begin(), answers.end(), [](const auto& each) {
    const auto& transports = each.second.engine.transports;
    return std::any_of(transports.begin(), transports.end(), uses);
  });
}

void announce_job_of_this_process(bool by_descent) {
  const pid_t launcher = ::getpid();
  std::set<std::string> known;
  for (const auto& job : all_jobs(::geteuid())) known.insert(job.id);
  Fd ends(static_cast<int>(::syscall(SYS_pidfd_open, launcher, 0)));
  std::fflush(nullptr);
  const pid_t child = ends ? ::fork() : -1;
  if (child < 0) {
    say("nothing will be printed when the job is up: no process could be started for that");
    return;
  }
  if (child > 0) {
    ::waitpid(child, nullptr, 0);
    return;
  }
  // The launcher waits for its own children, so this must not be one.
  if (::fork() != 0) ::_exit(0);
  leave_streams();
  try {
    Announcer(launcher, std::move(ends), by_descent, std::move(known)).run();
  } catch (const std::exception& error) {
    say(std::string("cannot tell when the job is up: ") + error.what());
  }
  ::_exit(0);
}

}  // namespace livebtl::tool
