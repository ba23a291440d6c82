// SPDX-License-Identifier: BSD-3-Clause
// How often a fuzzer's inputs were accepted and rejected, printed at exit. run_fuzzer.sh fails
// unless both happened: a fuzzer that never gets past the first check, or that rejects nothing,
// shows nothing. One thread.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace livebtl::fuzz {

class Reached {
 public:
  static void note(bool accepted) {
    static Reached reached;
    ++(accepted ? reached.accepted_ : reached.rejected_);
  }

 private:
  Reached() = default;
  ~Reached() {
    std::fprintf(stderr, "reached: accepted=%llu rejected=%llu\n",
                 static_cast<unsigned long long>(accepted_),
                 static_cast<unsigned long long>(rejected_));
  }

  std::uint64_t accepted_ = 0;
  std::uint64_t rejected_ = 0;
};

/// Ends the fuzzer with a report if something that must hold does not.
inline void must_hold(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzzer: broken: %s\n", what);
  std::abort();
}

}  // namespace livebtl::fuzz
