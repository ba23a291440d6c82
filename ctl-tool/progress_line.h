// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/progress_line.h -- how far a command has come, on stderr: on a terminal one line that is
// redrawn; elsewhere, and only if asked for, a line at each step that matters.
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

  /// matters: a step begins or ends; other progress is shown only on terminals.
  void show(const std::string& text, bool matters);
  void clear();

 private:
  bool terminal_;
  bool quiet_;
  bool drawn_ = false;
};

}  // namespace livebtl::tool
