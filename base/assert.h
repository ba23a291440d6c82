// SPDX-License-Identifier: BSD-3-Clause
// base/assert.h -- LIVEBTL_ASSERT(condition, "what must hold"): checks for bugs in livebtl itself,
// never for bad input or a dead network. Always on: delivering a wrong message is worse than
// stopping the job.
#pragma once

namespace livebtl {
[[noreturn]] void assertion_failed(const char* condition, const char* text, const char* file,
                                   int line) noexcept;
}  // namespace livebtl

#define LIVEBTL_ASSERT(condition, text)                                  \
  do {                                                                   \
    if (!(condition)) [[unlikely]]                                       \
      ::livebtl::assertion_failed(#condition, text, __FILE__, __LINE__); \
  } while (false)
