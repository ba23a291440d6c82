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

/// Is no bracket outside strings nested deeper? Without parsing: a parser never sees more.
inline bool json_within(int depth_max, std::string_view text) noexcept {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > depth_max) return false;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return true;
}

/// Errors: kLimit (nested deeper), kInvalid (no document, or a key stands twice in one object: two readers would
/// differ about it).
inline Result<Json> parse_json(std::string_view text, int depth_max) {
  if (!json_within(depth_max, text))
    return fail(Errc::kLimit, "JSON nested more than " + std::to_string(depth_max) + " deep");
  bool repeated = false;
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key)
      repeated = repeated || !keys.back().insert(parsed.get<std::string>()).second;
    return true;
  };
  Json json = Json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  if (json.is_discarded()) return fail(Errc::kInvalid, "not a JSON document");
  if (repeated) return fail(Errc::kInvalid, "a JSON object with a key that stands twice");
  return json;
}

}  // namespace livebtl
