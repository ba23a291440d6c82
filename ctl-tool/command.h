// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/command.h -- one command of btlctl: its words and options, its help, and what it does.
// The parser, --help, completion and the options in the manual are made from it. Plain constants.
#pragma once

#include <atomic>
#include <span>
#include <string>

#include "base/exit_code.h"
#include "ctl-tool/command_line.h"

namespace CLI {
class App;
}

namespace livebtl::tool {

struct Command {
  const char* name;
  const char* summary;      // one line
  const char* detail = "";  // more, then "Example:" or "Examples:" and lines to type

  /// Adds the command's own words and options; their values go into `line`.
  void (*define)(CLI::App& app, CommandLine& line) = nullptr;
  /// How options contradict each other that are well-formed on their own; "": they do not.
  std::string (*conflict)(const CommandLine& line) = nullptr;
  /// Data goes to stdout, all else to stderr. `stop` becomes true on SIGINT and SIGTERM.
  ExitCode (*run)(const CommandLine& line, const std::atomic<bool>& stop) = nullptr;
  bool foreground = false;  // --no-wait is not possible

  /// `hold start` and so on; a command that has actions only groups them.
  std::span<const Command* const> actions = {};
};

extern const Command kJobs, kList, kStatus, kTop, kWatch, kHistory, kTrace, kTopology, kMetrics,
    kAdd, kQuiesce, kRemove, kSwitch, kSet, kResume, kAbort, kCheckpoint, kHold, kJob, kVm, kHooks,
    kSecret, kSettings, kDoctor, kHelp;

/// In the order of --help and of the manual.
inline constexpr const Command* kCommands[] = {
    &kJobs, &kList,    &kStatus, &kTop,    &kWatch,    &kHistory, &kTrace, &kTopology,   &kMetrics,
    &kAdd,  &kQuiesce, &kRemove, &kSwitch, &kSet,      &kResume,  &kAbort, &kCheckpoint, &kHold,
    &kJob,  &kVm,      &kHooks,  &kSecret, &kSettings, &kDoctor,  &kHelp};

}  // namespace livebtl::tool
