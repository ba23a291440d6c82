// SPDX-License-Identifier: BSD-3-Clause
// base/process_mark.cc -- see process_mark.h.
#include "base/process_mark.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/fd.h"

namespace livebtl {
namespace {

std::uint64_t number_space() {
  struct stat facts {};
  return ::stat("/proc/self/ns/pid", &facts) == 0 ? facts.st_ino : 0;
}

/// nullopt: no descriptor is available. A zombie has ended, unless other threads of it still run.
std::optional<bool> ended_by_descriptor(pid_t pid) noexcept {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return errno == ESRCH ? std::optional(true) : std::nullopt;
  pollfd end{process.number(), POLLIN, 0};
  return ::poll(&end, 1, 0) > 0;
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const auto open = text.find('(');
  const auto close = text.rfind(')');  // the name may contain parentheses
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  ProcessStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  std::istringstream rest{std::string(text.substr(close + 1))};
  std::string skipped;
  rest >> stat.state >> stat.parent;
  constexpr int kFieldsBetweenParentAndThreads = 15;
  for (int i = 0; i < kFieldsBetweenParentAndThreads; ++i) rest >> skipped;
  rest >> stat.threads >> skipped >> stat.start;
  if (!rest) return std::nullopt;
  return stat;
}

std::optional<ProcessStat> read_process_stat(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  return parse_process_stat(text);
}

ProcessMark own_mark() { return {::getpid(), number_space()}; }

bool has_ended(const ProcessMark& mark) { return has_ended(mark, number_space()); }

bool has_ended(const ProcessMark& mark, std::uint64_t own_space) {
  if (mark.pid <= 0 || mark.space == 0 || mark.space != own_space) return false;
  if (const auto ended = ended_by_descriptor(mark.pid)) return *ended;
  if (::kill(mark.pid, 0) != 0 && errno == ESRCH) return true;
  const auto stat = read_process_stat(mark.pid);
  const bool ended = stat && (stat->state == 'Z' || stat->state == 'X');
  return ended && stat->threads <= 1;  // other threads may outlive the main thread
}

}  // namespace livebtl
