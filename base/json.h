// SPDX-License-Identifier: BSD-3-Clause
// base/json.h -- parses JSON that comes from another process: bounded in depth, each key once. Pure; any thread.
// Header only, so that those who use no JSON need no library for it. Length is bounded by the caller.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "livebtl/result.h"

namespace livebtl {

using Json = nlohmann::json;

/// Errors: kLimit (nested deeper), kInvalid (no document, or a key stands twice in one object: two readers would
/// differ about it).
inline Result<Json> parse_json(std::string_view text, int depth_max) {
  bool too_deep = false;
  bool repeated = false;
  std::vector<std::set<std::string>> keys;
  // What is nested deeper is never made: false drops it.
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start)
      too_deep = too_deep || depth >= depth_max;
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key)
      repeated = repeated || !keys.back().insert(parsed.get<std::string>()).second;
    return !too_deep;
  };
  Json json = Json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  if (too_deep)
    return fail(Errc::kLimit, "JSON nested more than " + std::to_string(depth_max) + " deep");
  if (json.is_discarded()) return fail(Errc::kInvalid, "not a JSON document");
  if (repeated) return fail(Errc::kInvalid, "a JSON object with a key that stands twice");
  return json;
}

}  // namespace livebtl
