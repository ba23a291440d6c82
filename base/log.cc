// SPDX-License-Identifier: BSD-3-Clause
// base/log.cc -- one write(2) per line, so that lines of many processes do not mix. Any thread.
#include "base/log.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <new>
#include <span>

#include "base/text.h"

namespace livebtl {
namespace {

constexpr std::size_t kLineMax = 1024;

std::atomic<LogLevel> g_level{LogLevel::kWarn};

// Leaked on purpose: the agent may still log while static objects are destroyed at exit.
struct Prefix {
  std::mutex mutex;
  std::string text = "livebtl";
};
Prefix& prefix() {
  static Prefix* const kept = [] {
    auto* made = new Prefix;
    // In a forked child, nobody would unlock a mutex that another thread held. If there is no
    // memory for the handler, this is no place to report it.
    static_cast<void>(::pthread_atfork(nullptr, nullptr, [] { new (&prefix().mutex) std::mutex; }));
    return made;
  }();
  return *kept;
}

constexpr const char* kLevelNames[] = {"error", "warn", "info", "debug"};

// Text from outside must not forge a second line or move the terminal's cursor.
void neutralise(std::span<char> text) noexcept {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t bytes = control_bytes({text.data() + at, text.size() - at});
    std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(at), bytes, '?');
  }
}

// The length that snprintf reports, capped at what fits.
std::size_t written(int reported, std::size_t room) noexcept {
  if (reported < 0 || room == 0) return 0;
  return std::min(static_cast<std::size_t>(reported), room - 1);
}

}  // namespace

void set_log_level(LogLevel level) noexcept { g_level.store(level, std::memory_order_relaxed); }

LogLevel log_level() noexcept { return g_level.load(std::memory_order_relaxed); }

void set_log_prefix(std::string text) {
  Prefix& current = prefix();
  const std::lock_guard hold(current.mutex);
  current.text = std::move(text);
}

void log(LogLevel level, const char* subsystem, const char* format, ...) noexcept {
  if (level > log_level()) return;
  std::array<char, kLineMax> line{};
  std::size_t used = 0;
  {
    Prefix& current = prefix();
    const std::lock_guard hold(current.mutex);
    used =
        written(std::snprintf(line.data(), line.size(), "%.*s %s %s: ", 128, current.text.c_str(),
                              kLevelNames[static_cast<int>(level)], subsystem),
                line.size());
  }
  va_list arguments;
  va_start(arguments, format);
  const std::size_t room = line.size() - used;
  used += written(std::vsnprintf(line.data() + used, room, format, arguments), room);
  va_end(arguments);
  neutralise(std::span(line).first(used));
  line[used] = '\n';  // there is room: it replaces the terminating zero
  // A full or closed stderr is no reason to disturb the job.
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), used + 1);
}

bool LogLimit::allow(TimeNs now) noexcept {
  if (now - window_start_ >= interval_ns_) {
    window_start_ = now;
    in_window_ = 0;
  }
  if (in_window_ >= burst_) {
    ++suppressed_;
    return false;
  }
  ++in_window_;
  return true;
}

}  // namespace livebtl
