// SPDX-License-Identifier: BSD-3-Clause
// base/log.h -- messages for people, on stderr: one line, key=value, rate-limited where an
// unauthenticated process can cause them.
//
// Levels:  error: the user must act. warn: degraded. info: a state transition, once. debug: for
//          development.
// Where:   never on the per-message path. A failure is logged once, where it is detected; callers
//          do not log it again.
// Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace livebtl {

enum class LogLevel : std::uint8_t { kError, kWarn, kInfo, kDebug };

void set_log_level(LogLevel level) noexcept;
LogLevel log_level() noexcept;
/// Every line begins with this, e.g. "livebtl[rank 3]".
void set_log_prefix(std::string prefix);

/// printf-style; `subsystem` is one word: engine, tcp, sm, agent, switch, ...
[[gnu::format(printf, 3, 4)]] void log(LogLevel level, const char* subsystem, const char* format,
                                       ...) noexcept;

/// For lines that an unauthenticated process can cause: at most `burst` per interval; the rest are
/// counted. Not thread-safe: one for each place that logs, under the lock that guards that place.
class LogLimit {
 public:
  explicit constexpr LogLimit(std::uint32_t burst = 1, TimeNs interval_ns = 10 * kSecond) noexcept
      : burst_(burst), interval_ns_(interval_ns), window_start_(-interval_ns) {}

  bool allow(TimeNs now) noexcept;
  /// Lines suppressed since the start, to be named in the next one allowed.
  std::uint64_t suppressed() const noexcept { return suppressed_; }

 private:
  std::uint32_t burst_;
  TimeNs interval_ns_;
  TimeNs window_start_;
  std::uint32_t in_window_ = 0;
  std::uint64_t suppressed_ = 0;
};

}  // namespace livebtl
