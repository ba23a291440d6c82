// SPDX-License-Identifier: BSD-3-Clause
// base/process_mark.h -- what a process leaves of itself in files, so that others can tell later whether it has ended.
//
// A lock or a socket outlives its process in a child that was cloned without exec; this does not. Any thread;
// nothing is kept here.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace livebtl {

/// The fields of /proc/PID/stat that are used.
struct ProcessStat {
  std::string name;
  char state = '?';
  pid_t parent = 0;
  std::uint32_t threads = 0;
  std::uint64_t start = 0;  // clock ticks since boot
};
/// nullopt: there is none, or it is hidden.
std::optional<ProcessStat> read_process_stat(pid_t pid);
std::optional<ProcessStat> parse_process_stat(std::string_view text);

struct ProcessMark {
  pid_t pid = 0;
  std::uint64_t space = 0;  // of process numbers: the inode of its namespace; 0: not known
  friend bool operator==(const ProcessMark&, const ProcessMark&) = default;
};
/// This process's own.
ProcessMark own_mark();
/// Is there proof that it has ended? false also where none can be had: it is of another namespace, or its number was
/// given again. (The start would tell, but a process that CRIU restores has another one.)
bool has_ended(const ProcessMark& mark);
/// The same, for those who look at many. own_space: own_mark().space.
bool has_ended(const ProcessMark& mark, std::uint64_t own_space);

}  // namespace livebtl
