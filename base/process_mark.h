// SPDX-License-Identifier: BSD-3-Clause
// base/process_mark.h -- what a process writes into files so that others can tell later whether it
// has ended.
//
// A lock or a socket outlives its process in a child cloned without exec; a mark does not. Any
// thread; nothing is kept here.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace livebtl {

/// The fields used of /proc/PID/stat.
struct ProcessStat {
  std::string name;
  char state = '?';
  pid_t parent = 0;
  std::uint32_t threads = 0;
  std::uint64_t start = 0;  // clock ticks since boot
};
/// nullopt: there is no such process, or it is hidden.
std::optional<ProcessStat> read_process_stat(pid_t pid);
std::optional<ProcessStat> parse_process_stat(std::string_view text);

struct ProcessMark {
  pid_t pid = 0;
  std::uint64_t space = 0;  // inode of the pid namespace; 0: not known
  friend bool operator==(const ProcessMark&, const ProcessMark&) = default;
};
/// This process's own.
ProcessMark own_mark();
/// Is there proof that the process has ended? Also false if none can be had: it is in another
/// namespace, or its pid was reused. (The start time would tell, but CRIU changes it on restore.)
bool has_ended(const ProcessMark& mark);
/// The same, for callers that check many. own_space: own_mark().space.
bool has_ended(const ProcessMark& mark, std::uint64_t own_space);

}  // namespace livebtl
