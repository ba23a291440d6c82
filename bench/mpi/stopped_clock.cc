// SPDX-License-Identifier: BSD-3-Clause
// bench/mpi/stopped_clock.cc -- loaded before the C library to count instructions: to a program
// that calls bench_stop_clock(true), clocks stand still until bench_stop_clock(false).
//
// Under callgrind a message takes milliseconds, and more on a busy machine: work done once per ms
// would add several per cent to a message, differently in each run. Any thread may call.
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

namespace {

constexpr std::array kClocks = {CLOCK_REALTIME, CLOCK_MONOTONIC};
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::atomic<bool> stopped{false};
std::array<std::atomic<std::int64_t>, kClocks.size()> stopped_at;  // nanoseconds, by clock

int ask_system(clockid_t clock, timespec* time) {
  using Function = int (*)(clockid_t, timespec*);
  static const auto function = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "clock_gettime"));
  if (function != nullptr) return function(clock, time);
  errno = ENOSYS;
  return -1;
}

}  // namespace

extern "C" void bench_stop_clock(bool stop) {
  for (std::size_t i = 0; i < kClocks.size(); ++i) {
    timespec now{};
    ask_system(kClocks[i], &now);
    stopped_at[i] = now.tv_sec * kNsPerSecond + now.tv_nsec;
  }
  stopped = stop;
}

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  for (std::size_t i = 0; i < kClocks.size(); ++i) {
    if (!stopped || kClocks[i] != clock) continue;
    const std::int64_t at = stopped_at[i];
    *time = {at / kNsPerSecond, at % kNsPerSecond};
    return 0;
  }
  return ask_system(clock, time);
}
