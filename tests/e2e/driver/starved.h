// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/driver/starved.h -- was a slow switch slow, or did the driver get no processor?
//
// A coordinator that gets no processor holds up its ladder, as it is meant to; on a machine that
// has more to do than it has processors for, that is most of a slow switch. The kernel counts that time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace livebtl::e2e {

/// By thread: how long it could have run so far, and was given no processor.
using RunDelays = std::map<int, TimeNs>;

/// Of a line of /proc/PID/task/TID/schedstat. nullopt: malformed.
std::optional<TimeNs> parse_run_delay(std::string_view schedstat);
/// Of this process. Empty: the kernel does not count.
RunDelays run_delays();
/// The longest that one thread was kept waiting between the two.
TimeNs longest_wait(const RunDelays& before, const RunDelays& after);

}  // namespace livebtl::e2e
