// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/exporter/news.h -- of what is found at every look, what has to be said: a text when it comes, not while it
// stays.
//
// Threads: one at a time.
#pragma once

#include <string>

namespace livebtl::tool {

class News {
 public:
  /// Is this another text than at the last call? "": there is nothing to say, which is never new; what comes
  /// after it is.
  bool is_new(const std::string& text) {
    const bool changed = text != last_;
    last_ = text;
    return changed && !text.empty();
  }

 private:
  std::string last_;
};

}  // namespace livebtl::tool
