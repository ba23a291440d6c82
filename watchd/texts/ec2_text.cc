// SPDX-License-Identifier: BSD-3-Clause
// watchd/texts/ec2_text.cc -- see notice_texts.h.
#include "watchd/texts/fields.h"
#include "watchd/texts/moment.h"
#include "watchd/texts/notice_texts.h"

namespace livebtl::watchd {
namespace {

Kind ec2_kind(const std::string& code) {
  if (code == "instance-reboot" || code == "system-reboot") return Kind::kReboot;
  if (code == "instance-retirement") return Kind::kTerminate;
  if (code == "instance-stop") return Kind::kRedeploy;
  return Kind::kMaintenance;
}

Result<Notice> read_ec2_event(const Json& event) {
  Notice notice;
  const std::string code = text_in(event, "Code");
  notice.id = text_in(event, "EventId");
  if (!well_formed_event_id(notice.id)) return not_understood("an event without EventId");
  notice.kind = ec2_kind(code);
  notice.start = read_moment(text_in(event, "NotBefore"));
  if (!notice.start) return not_understood("NotBefore is no time");
  notice.text = plain_text(code + " " + text_in(event, "Description"));
  return notice;
}

}  // namespace

/// Events that are over or were withdrawn stay in the list for a week.
Result<Notices> read_ec2_events(std::string_view body) {
  const auto json = parse_json(body, kAnswerDepthMax);
  if (!json) return tl::unexpected(json.error());
  if (!json->is_array() || json->size() > kNoticesMax) return not_understood("no list of events");
  Notices notices;
  for (const Json& event : *json) {
    const std::string state = text_in(event, "State");
    if (state == "completed" || state == "canceled") continue;
    if (state != "active") return not_understood("State is '" + plain_text(state) + "'");
    auto notice = read_ec2_event(event);
    if (!notice) return tl::unexpected(notice.error());
    notices.push_back(std::move(*notice));
  }
  return notices;
}

Result<Notices> read_ec2_spot(std::string_view body) {
  const auto json = parse_json(body, kAnswerDepthMax);
  if (!json) return tl::unexpected(json.error());
  const std::string action = text_in(*json, "action");
  Notice notice{.id = "spot-instance-action", .start = read_moment(text_in(*json, "time"))};
  if (!notice.start) return not_understood("time of a spot notice");
  if (action == "hibernate") {
    notice.kind = Kind::kFreeze;
  } else if (action == "stop" || action == "terminate") {
    notice.kind = Kind::kPreempt;
  } else {
    return not_understood("action is '" + plain_text(action) + "'");
  }
  notice.text = "spot instance: " + action;
  return Notices{notice};
}

}  // namespace livebtl::watchd
