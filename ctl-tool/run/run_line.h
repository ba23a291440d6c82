// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/run/run_line.h -- livebtl-run's command line: its own options, then the launch line,
// which is passed on unchanged. One thread.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ctl-tool/command_line.h"
#include "launch/plan.h"

namespace livebtl::tool {

struct RunLine {
  launch::Wishes wishes;
  bool show = false;
  bool quiet = false;
  std::vector<std::string> words;  // the launch line
};

/// arguments: without the program's name; hostile.
std::variant<RunLine, EndNow> parse_run_line(std::vector<std::string> arguments);

/// The parser of its own options, which the manual uses as well. Values go into `line`, which must
/// outlive it.
std::unique_ptr<CLI::App> define_run_line(RunLine& line);

}  // namespace livebtl::tool
