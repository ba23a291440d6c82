// SPDX-License-Identifier: BSD-3-Clause
// perf/both.cc -- see both.h.
#include "perf/both.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/signal_set.h"
#include "perf/take_part.h"
#include "perf/units.h"

namespace livebtl::perf {
namespace {

/// Those that end a measurement, and the one that tells that a process has ended. Blocked from before there are
/// processes, and waited for: none is missed between two looks.
sigset_t awaited_signals() { return signal_set({SIGINT, SIGTERM, SIGHUP, SIGCHLD}); }

void let_signals_end_us() {
  const sigset_t set = awaited_signals();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

/// The first two processors that we may run on; fewer if there are not two.
std::vector<int> two_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> found;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return found;
  for (int each = 0; each < CPU_SETSIZE && found.size() < 2; ++each) {
    if (CPU_ISSET(static_cast<std::size_t>(each), &set)) found.push_back(each);
  }
  return found;
}

/// A directory of our own, removed with what is in it.
class MeetingPlace {
 public:
  MeetingPlace() {
    std::error_code error;
    path_ = (std::filesystem::temp_directory_path(error) / "btlperf-XXXXXX").string();
    if (error || ::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~MeetingPlace() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  MeetingPlace(const MeetingPlace&) = delete;
  MeetingPlace& operator=(const MeetingPlace&) = delete;
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

pid_t start_rank(Line line, int rank, const std::vector<int>& processors) {
  const pid_t parent = ::getpid();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(static_cast<int>(ExitCode::kInterrupted));
  let_signals_end_us();
  line.rank = rank;
  Place place;
  place.one_machine = true;
  if (processors.size() == 2) place.processor = processors[static_cast<std::size_t>(rank)];
  const ExitCode code = take_part(line, place);
  const bool printed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!printed) std::fputs("btlperf: the answer could not be written; is the disk full?\n", stderr);
  ::_exit(static_cast<int>(printed ? code : ExitCode::kUsage));
}

ExitCode code_of(const Line& line, int rank, int status) {
  if (WIFEXITED(status)) return static_cast<ExitCode>(WEXITSTATUS(status));
  return end_with(line, ExitCode::kMembersMissing,
                  "the process of rank " + std::to_string(rank) + " was ended by signal " +
                      std::to_string(WTERMSIG(status)));
}

/// Both, until they have ended. If one fails the other ends by what it is told, or by its time-out; a signal ends both.
std::array<ExitCode, 2> await(const Line& line, const std::array<pid_t, 2>& ranks) {
  std::array<ExitCode, 2> codes{ExitCode::kDone, ExitCode::kDone};
  const sigset_t signals = awaited_signals();
  for (int left = 2; left > 0;) {
    int came = 0, status = 0;
    ::sigwait(&signals, &came);
    if (came != SIGCHLD) {
      for (const pid_t rank : ranks) ::kill(rank, SIGKILL);
      return {ExitCode::kInterrupted, ExitCode::kInterrupted};
    }
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      if (::waitpid(ranks[rank], &status, WNOHANG) != ranks[rank]) continue;
      codes[rank] = code_of(line, static_cast<int>(rank), status);
      --left;
    }
  }
  return codes;
}

std::string shown_sizes(const Line& line) {
  std::string text;
  for (const std::size_t size : line.sizes) text += (text.empty() ? "" : ", ") + size_text(size);
  return text;
}

}  // namespace

ExitCode run_both(Line line) {
  const MeetingPlace place;
  if (place.path().empty())
    return end_with(line, ExitCode::kNotPermitted,
                    "no directory can be made for the two processes to meet in; is TMPDIR right?");
  line.job = "btlperf-" + std::to_string(::getpid());
  line.meet = place.path();
  block_signals(awaited_signals());
  const std::vector<int> processors = two_processors();
  std::array<pid_t, 2> ranks{-1, -1};
  for (int rank = 0; rank < 2; ++rank) {
    ranks[static_cast<std::size_t>(rank)] = start_rank(line, rank, processors);
    if (ranks[static_cast<std::size_t>(rank)] < 0) {
      if (rank == 1) ::kill(ranks[0], SIGKILL);
      return end_with(line, ExitCode::kNotPermitted, "no process can be started; see ulimit -u");
    }
  }
  const auto codes = await(line, ranks);
  if (codes[0] == ExitCode::kInterrupted)
    return end_with(line, ExitCode::kInterrupted, "interrupted; both processes were ended");
  return codes[0] != ExitCode::kDone ? codes[0] : codes[1];
}

std::string plan_text(const Line& line) {
  const std::string transports = joined(line.transports, ",");
  std::string text = std::string(info_of(line.test).name) + " of " + shown_sizes(line) + ", " +
                     std::to_string(line.rounds_for(line.sizes.front())) + " times of the first, " +
                     std::to_string(line.window_for()) + " at once, over " +
                     (transports.empty() ? "what the library chooses" : transports);
  if (line.switch_every > 0)
    text += ", on each of them and through " + std::to_string(line.switches) + " switches";
  return text + (line.starts_both() ? "; two processes on this machine\n"
                                    : "; as rank " + std::to_string(line.rank) + " of job " +
                                          line.job + ", which meets in " + line.meet + "\n");
}

}  // namespace livebtl::perf
