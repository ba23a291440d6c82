// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/progress_line.h -- how far a command has come, on stderr: one line that is redrawn on a
// terminal; elsewhere, and only if it is asked for, a line at each step that matters.
#pragma once

#include <string>

#include "ctl-tool/command_line.h"

namespace livebtl::tool {

class ProgressLine {
 public:
  explicit ProgressLine(const CommandLine& line);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// matters: a step begins or ends; else it is shown on terminals alone.
  void show(const std::string& text, bool matters);
  void clear();

 private:
  bool terminal_;
  bool quiet_;
  bool drawn_ = false;
};

}  // namespace livebtl::tool
