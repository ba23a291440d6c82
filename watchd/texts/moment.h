// SPDX-License-Identifier: BSD-3-Clause
// watchd/texts/moment.h -- times as sources write them. Pure; what is read is hostile.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "watchd/events/notice.h"

namespace livebtl::watchd {

/// "Mon, 19 Sep 2016 18:29:47 GMT", the same without the day of the week, and
/// "2017-09-18T08:22:00Z", which may have a fraction, and an offset from UTC. nullopt: anything
/// else, or a year before 1970 or after 2200.
std::optional<UnixNs> read_moment(std::string_view text);
/// "2017-09-18T08:22:00Z"
std::string moment_text(UnixNs at);

}  // namespace livebtl::watchd
