// SPDX-License-Identifier: BSD-3-Clause
// watchd/texts/fields.h -- members of a JSON document that came from outside. Pure.
#pragma once

#include "base/json.h"
#include "livebtl/result.h"

namespace livebtl::watchd {

inline constexpr int kAnswerDepthMax = 12;  // Slurm's documents are that deep

/// "": there is no such text.
inline std::string text_in(const Json& json, const char* name) {
  if (!json.is_object()) return "";
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

/// nullptr: there is no such array.
inline const Json* list_in(const Json& json, const char* name) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(name);
  return found != json.end() && found->is_array() ? &*found : nullptr;
}

/// nullptr: there is no such member.
inline const Json* member_in(const Json& json, const char* name) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(name);
  return found == json.end() ? nullptr : &*found;
}

inline tl::unexpected<Error> not_understood(const std::string& what) {
  return fail(Errc::kInvalid, "the answer is not understood: " + what);
}

}  // namespace livebtl::watchd
