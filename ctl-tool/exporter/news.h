// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/exporter/news.h -- which of the findings at every look to report: a text when it
// appears, not while it stays.
//
// Threads: one at a time.
#pragma once

#include <string>

namespace livebtl::tool {

class News {
 public:
  /// Does the text differ from the last call's? "": nothing to say, which is never new; what
  /// follows it is.
  bool is_new(const std::string& text) {
    const bool changed = text != last_;
    last_ = text;
    return changed && !text.empty();
  }

 private:
  std::string last_;
};

}  // namespace livebtl::tool
