// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/untrusted.h -- what hypervisors and guests say, checked before anything else looks
// at it: documents of bounded depth, their members, and text to be shown. Pure, except for pause().
// Any thread.
#pragma once

#include <livebtl/result.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/deadline.h"
#include "base/json.h"

namespace livebtl::hypervisor {

inline constexpr int kDepthMax = 32;

/// Sleeps that long, but not beyond the deadline.
void pause(TimeNs duration, const Deadline& deadline) noexcept;

/// A discarded value if the text is not JSON, is nested too deeply, or repeats a key in an object.
Json parse_bounded(std::string_view text);
/// The object's member of that name and kind; nullptr if there is none.
const Json* member(const Json& object, const char* name, Json::value_t kind);
/// The string of that name; "" if there is none.
std::string text_member(const Json& object, const char* name);
/// Whether the member is there and true.
bool is_true(const Json& document, const char* name);
/// The non-negative number of that name; nullopt if there is none.
std::optional<std::uint64_t> number_member(const Json& object, const char* name);
/// One line to be shown to the user: of bounded length and without control characters, including
/// those that change the direction of writing.
std::string one_line(std::string_view text);

}  // namespace livebtl::hypervisor
