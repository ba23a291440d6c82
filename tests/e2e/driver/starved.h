// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/driver/starved.h -- tells whether a switch was slow, or the driver had no processor.
//
// A coordinator without a processor holds up its ladder, by design; on a machine with more work
// than processors, that is most of a slow switch. The kernel counts that time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace livebtl::e2e {

/// By thread: for how long so far it could have run, but got no processor.
using RunDelays = std::map<int, TimeNs>;

/// Parses a line of /proc/PID/task/TID/schedstat. nullopt: malformed.
std::optional<TimeNs> parse_run_delay(std::string_view schedstat);
/// This process's delays. Empty: the kernel does not count them.
RunDelays run_delays();
/// The longest wait of any one thread between the two.
TimeNs longest_wait(const RunDelays& before, const RunDelays& after);

}  // namespace livebtl::e2e
