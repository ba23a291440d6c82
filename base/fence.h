// SPDX-License-Identifier: BSD-3-Clause
// base/fence.h -- a full memory fence, for memory that other processes read. Pure; any thread.
#pragma once

namespace livebtl {

/// GCC warns that -fsanitize=thread ignores fences. This one orders memory for readers in other
/// processes, which that sanitizer does not see.
inline void full_fence() noexcept {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

}  // namespace livebtl
