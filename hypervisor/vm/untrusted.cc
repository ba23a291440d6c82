// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/untrusted.cc -- see untrusted.h.
#include "hypervisor/vm/untrusted.h"

#include <poll.h>

#include <algorithm>

#include "base/text.h"

namespace livebtl::hypervisor {
namespace {

constexpr TimeNs kStopLook = 50 * kMillisecond;  // a signal may come just before poll() sleeps
constexpr std::size_t kShownMax = 600;

}  // namespace

void pause(TimeNs duration, const Deadline& deadline) noexcept {
  const TimeNs until = std::min(monotonic_now() + duration, deadline.at);
  for (TimeNs left = until - monotonic_now(); left > 0 && !deadline.stopped();
       left = until - monotonic_now()) {
    ::poll(nullptr, 0, static_cast<int>(std::min(left, kStopLook) / kMillisecond) + 1);
  }
}

Json parse_bounded(std::string_view text) {
  return parse_json(text, kDepthMax).value_or(Json(Json::value_t::discarded));
}

const Json* member(const Json& object, const char* name, Json::value_t kind) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found != object.end() && found->type() == kind ? &*found : nullptr;
}

std::string text_member(const Json& object, const char* name) {
  const Json* found = member(object, name, Json::value_t::string);
  return found == nullptr ? "" : found->get<std::string>();
}

bool is_true(const Json& document, const char* name) {
  const Json* value = member(document, name, Json::value_t::boolean);
  return value != nullptr && value->get<bool>();
}

std::optional<std::uint64_t> number_member(const Json& object, const char* name) {
  const Json* found = member(object, name, Json::value_t::number_unsigned);
  return found == nullptr ? std::nullopt : std::optional(found->get<std::uint64_t>());
}

std::string one_line(std::string_view text) {
  const std::string_view shown = text.substr(0, kShownMax);
  std::string line;
  for (std::size_t at = 0; at < shown.size();) {
    const std::size_t harmful = control_bytes(shown.substr(at));
    line += harmful == 0 ? shown[at] : ' ';
    at += std::max<std::size_t>(harmful, 1);
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return text.size() > kShownMax ? line + "..." : line;
}

}  // namespace livebtl::hypervisor
