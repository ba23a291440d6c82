// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/progress_line.cc -- see progress_line.h.
#include "ctl-tool/progress_line.h"

#include <unistd.h>

#include <cstdio>

namespace livebtl::tool {

ProgressLine::ProgressLine(const CommandLine& line)
    : terminal_(::isatty(STDERR_FILENO) == 1),
      quiet_(line.quiet || (!terminal_ && !line.progress)) {}

void ProgressLine::show(const std::string& text, bool matters) {
  if (quiet_) return;
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    drawn_ = true;
  } else if (matters) {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

}  // namespace livebtl::tool
