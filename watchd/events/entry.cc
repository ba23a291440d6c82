// SPDX-License-Identifier: BSD-3-Clause
// watchd/events/entry.cc -- see entry.h.
#include "watchd/events/entry.h"

#include <algorithm>
#include <array>

#include "base/json.h"

namespace livebtl::watchd {
namespace {

constexpr const char* kEntrySchema = "livebtl.watchd/1";
constexpr std::array<const char*, kStates> kStateNames = {
    "seen", "preparing", "released", "acknowledging", "acknowledged", "missed", "over", "returned"};

std::optional<State> read_state(const std::string& name) noexcept {
  const auto found = std::find(kStateNames.begin(), kStateNames.end(), name);
  if (found == kStateNames.end()) return std::nullopt;
  return static_cast<State>(found - kStateNames.begin());
}

std::string string_in(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

bool true_in(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

std::optional<std::int64_t> number_in(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number_integer() ||
      (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX))
    return std::nullopt;
  return found->get<std::int64_t>();
}

}  // namespace

const char* state_name(State state) noexcept {
  return kStateNames[static_cast<std::size_t>(state)];
}

std::string entry_line(const Entry& entry) {
  Json json = {{"schema", kEntrySchema},
               {"at_unix_ns", entry.at},
               {"source", entry.source},
               {"event", entry.notice.id},
               {"kind", kind_name(entry.notice.kind)},
               {"state", state_name(entry.state)},
               {"called", entry.called},
               {"acknowledgeable", entry.notice.acknowledgeable},
               {"begun", entry.notice.begun},
               {"notice", plain_text(entry.notice.text)},
               {"text", plain_text(entry.text)}};
  if (entry.notice.start) json["start_unix_ns"] = *entry.notice.start;
  return json.dump();
}

Result<Entry> read_entry(std::string_view line) {
  const auto json = parse_json(line, 2);
  if (!json) return tl::unexpected(json.error());
  if (!json->is_object() || string_in(*json, "schema") != kEntrySchema)
    return fail(Errc::kInvalid, "not a line of a journal of livebtl-watchd's");
  Entry entry;
  const auto kind = read_kind(string_in(*json, "kind"));
  const auto state = read_state(string_in(*json, "state"));
  entry.source = string_in(*json, "source");
  entry.notice.id = string_in(*json, "event");
  if (!kind || !state || !well_formed_event_id(entry.notice.id) ||
      !well_formed_event_id(entry.source))
    return fail(Errc::kInvalid, "a line of the journal lacks source, event, kind or state");
  entry.notice.kind = *kind;
  entry.state = *state;
  entry.at = number_in(*json, "at_unix_ns").value_or(0);
  entry.notice.start = number_in(*json, "start_unix_ns");
  entry.notice.acknowledgeable = true_in(*json, "acknowledgeable");
  entry.notice.begun = true_in(*json, "begun");
  entry.notice.text = plain_text(string_in(*json, "notice"));
  entry.called = true_in(*json, "called");
  entry.text = plain_text(string_in(*json, "text"));
  return entry;
}

}  // namespace livebtl::watchd
