// SPDX-License-Identifier: BSD-3-Clause
// base/fence.h -- a full memory fence, for memory that other processes read. Pure; any thread.
#pragma once

namespace livebtl {

/// GCC says of fences that -fsanitize=thread does not take them into account. What this one orders other processes
/// read, of which that sanitizer sees nothing.
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
