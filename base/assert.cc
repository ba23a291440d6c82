// SPDX-License-Identifier: BSD-3-Clause
// base/assert.cc -- where a bug in livebtl ends: one line on stderr, then abort(). Any thread;
// allocates nothing.
#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace livebtl {

void assertion_failed(const char* condition, const char* text, const char* file,
                      int line) noexcept {
  std::fprintf(stderr, "livebtl: this is a bug, please report it: %s (%s, %s:%d)\n", text,
               condition, file, line);
  std::abort();
}

}  // namespace livebtl
