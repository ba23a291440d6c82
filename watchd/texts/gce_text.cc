// SPDX-License-Identifier: BSD-3-Clause
// watchd/texts/gce_text.cc -- see notice_texts.h.
#include "watchd/texts/fields.h"
#include "watchd/texts/moment.h"
#include "watchd/texts/notice_texts.h"

namespace livebtl::watchd {
namespace {

constexpr TimeNs kMigrationLead = 60 * kSecond;  // from maintenance-event's change to migration

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// The metadata server writes names with underscores, the cloud's own interface in one word.
std::string either(const Json& json, const char* one, const char* other) {
  const std::string found = text_in(json, one);
  return found.empty() ? text_in(json, other) : found;
}

}  // namespace

Result<Notices> read_gce_event(std::string_view body) {
  const std::string_view word = trimmed(body);
  if (word == "NONE") return Notices();
  Notice notice{.id = "maintenance-event", .usual_lead = kMigrationLead, .text = plain_text(word)};
  if (word == "MIGRATE_ON_HOST_MAINTENANCE") {
    notice.kind = Kind::kMigrate;
  } else if (word == "TERMINATE_ON_HOST_MAINTENANCE") {
    notice.kind = Kind::kTerminate;
  } else {
    return not_understood("maintenance-event is '" + plain_text(word.substr(0, 40)) + "'");
  }
  return Notices{notice};
}

Result<Notices> read_gce_upcoming(std::string_view body) {
  const auto json = parse_json(body, kAnswerDepthMax);
  if (!json) return tl::unexpected(json.error());
  if (!json->is_object()) return not_understood("upcoming-maintenance is no object");
  if (json->empty()) return Notices();
  const std::string start = either(*json, "window_start_time", "windowStartTime");
  const std::string status = either(*json, "maintenance_status", "maintenanceStatus");
  Notice notice{.id = "upcoming-maintenance-" + start, .start = read_moment(start)};
  if (!notice.start || !well_formed_event_id(notice.id))
    return not_understood("window_start_time is no time");
  notice.begun = status == "ONGOING";
  notice.text = plain_text("upcoming-maintenance " + text_in(*json, "type") + " " + status);
  return Notices{notice};
}

}  // namespace livebtl::watchd
