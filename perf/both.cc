// SPDX-License-Identifier: BSD-3-Clause
// perf/both.cc -- see both.h.
#include "perf/both.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/signal_set.h"
#include "perf/take_part.h"
#include "perf/units.h"

namespace livebtl::perf {
namespace {

/// The signals that end a measurement, and the one that reports that a process has ended. Blocked
/// before there are processes, and waited for: none is missed between two looks.
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

/// A directory of our own, removed with its contents.
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

/// With --json, what rank 0 writes to standard output: a document, printed only if its outcome
/// counts.
class KeptDocument {
 public:
  explicit KeptDocument(bool wanted) : wanted_(wanted) {
    if (wanted) file_ = Fd(::memfd_create("btlperf", MFD_CLOEXEC));
  }
  bool is_there() const { return !wanted_ || file_; }
  bool take_output() const { return !wanted_ || ::dup2(file_.number(), STDOUT_FILENO) >= 0; }
  std::string text() const {
    std::string text;
    std::array<char, 4096> some{};
    for (;;) {
      const auto at = static_cast<off_t>(text.size());
      const ssize_t count = ::pread(file_.number(), some.data(), some.size(), at);
      if (count <= 0) return text;
      text.append(some.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  const bool wanted_;
  Fd file_;
};

pid_t start_rank(Line line, int rank, const std::vector<int>& processors,
                 const KeptDocument& document) {
  const pid_t parent = ::getpid();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(static_cast<int>(ExitCode::kInterrupted));
  let_signals_end_us();
  if (rank == 0 && !document.take_output()) ::_exit(static_cast<int>(ExitCode::kNotPermitted));
  line.rank = rank;
  Place place;
  place.one_machine = true;
  if (processors.size() == 2) place.processor = processors[static_cast<std::size_t>(rank)];
  const ExitCode code = take_part(line, place);
  const bool printed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!printed) std::fputs("btlperf: the answer could not be written; is the disk full?\n", stderr);
  ::_exit(static_cast<int>(printed ? code : ExitCode::kUsage));
}

/// Waits until both have ended. If one fails, the other ends once it is told, or by its time-out; a
/// signal ends both.
std::optional<Ends> await(const std::array<pid_t, 2>& ranks) {
  Ends ends{};
  const sigset_t signals = awaited_signals();
  for (int left = 2; left > 0;) {
    int came = 0, status = 0;
    ::sigwait(&signals, &came);
    if (came != SIGCHLD) {
      for (const pid_t rank : ranks) ::kill(rank, SIGKILL);
      return std::nullopt;
    }
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      if (::waitpid(ranks[rank], &status, WNOHANG) != ranks[rank]) continue;
      ends[rank] = WIFEXITED(status) ? RankEnd{static_cast<ExitCode>(WEXITSTATUS(status)), 0}
                                     : RankEnd{ExitCode::kMembersMissing, WTERMSIG(status)};
      --left;
    }
  }
  return ends;
}

/// What rank 0 has printed about its own end stands; any other end is reported here.
ExitCode end_both(const Line& line, const Ends& ends, const std::string& document) {
  const std::size_t rank = rank_that_knows(ends);
  const RankEnd& end = ends[rank];
  const bool whole = !line.json || document.ends_with('\n');
  if (rank != 0 || end.signal != 0 || !whole) return end_with(line, end.code, end_text(end, rank));
  if (ends[1].signal != 0) std::fprintf(stderr, "btlperf: %s\n", end_text(ends[1], 1).c_str());
  std::fputs(document.c_str(), stdout);
  return end.code;
}

std::string shown_sizes(const Line& line) {
  std::string text;
  for (const std::size_t size : line.sizes) text += (text.empty() ? "" : ", ") + size_text(size);
  return text;
}

}  // namespace

std::size_t rank_that_knows(const Ends& ends) {
  const ExitCode other = ends[1].code;
  if (ends[0].signal != 0) return 0;
  if (ends[0].code == ExitCode::kDone) return other == ExitCode::kDone ? 0 : 1;
  // If only rank 1 receives, only it sees loss or damage; rank 0 loses its peer, or waits in vain.
  const bool lost_other = ends[0].code == ExitCode::kMembersMissing;
  return lost_other && other != ExitCode::kDone && other != ExitCode::kMembersMissing ? 1 : 0;
}

std::string end_text(const RankEnd& end, std::size_t rank) {
  const std::string who = "the process of rank " + std::to_string(rank);
  if (end.signal != 0) return who + " was ended by signal " + std::to_string(end.signal);
  return who + " ended with code " + std::to_string(static_cast<int>(end.code)) + " (" +
         reason_of(end.code) + "); it has said why on standard error";
}

ExitCode run_both(Line line) {
  const MeetingPlace place;
  if (place.path().empty())
    return end_with(line, ExitCode::kNotPermitted,
                    "no directory can be made for the two processes to meet in; is TMPDIR right?");
  const KeptDocument document(line.json);
  if (!document.is_there())
    return end_with(line, ExitCode::kNotPermitted, "no file can be opened; see ulimit -n");
  line.job = "btlperf-" + std::to_string(::getpid());
  line.meet = place.path();
  block_signals(awaited_signals());
  const std::vector<int> processors = two_processors();
  std::array<pid_t, 2> ranks{-1, -1};
  for (int rank = 0; rank < 2; ++rank) {
    ranks[static_cast<std::size_t>(rank)] = start_rank(line, rank, processors, document);
    if (ranks[static_cast<std::size_t>(rank)] < 0) {
      if (rank == 1) ::kill(ranks[0], SIGKILL);
      return end_with(line, ExitCode::kNotPermitted, "no process can be started; see ulimit -u");
    }
  }
  const auto ends = await(ranks);
  if (ends) return end_both(line, *ends, document.text());
  return end_with(line, ExitCode::kInterrupted, "interrupted; both processes were ended");
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
