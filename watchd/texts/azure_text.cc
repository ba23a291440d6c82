// SPDX-License-Identifier: BSD-3-Clause
// watchd/texts/azure_text.cc -- see notice_texts.h.
#include <algorithm>

#include "watchd/texts/fields.h"
#include "watchd/texts/moment.h"
#include "watchd/texts/notice_texts.h"

namespace livebtl::watchd {
namespace {

std::optional<Kind> azure_kind(const std::string& type) {
  if (type == "Freeze") return Kind::kFreeze;
  if (type == "Reboot") return Kind::kReboot;
  if (type == "Redeploy") return Kind::kRedeploy;
  if (type == "Preempt") return Kind::kPreempt;
  if (type == "Terminate") return Kind::kTerminate;
  return std::nullopt;
}

bool names(const Json& resources, const std::string& machine) {
  return std::any_of(resources.begin(), resources.end(), [&machine](const Json& each) {
    return each.is_string() && each.get_ref<const std::string&>() == machine;
  });
}

/// An event that has begun has no NotBefore.
Result<Notice> read_azure_event(const Json& event, std::size_t machines, bool alone_acknowledges) {
  Notice notice;
  notice.id = text_in(event, "EventId");
  if (!well_formed_event_id(notice.id)) return not_understood("an event without EventId");
  const std::string status = text_in(event, "EventStatus");
  notice.begun = status == "Started";
  if (!notice.begun && status != "Scheduled")
    return not_understood("EventStatus is '" + plain_text(status) + "'");
  notice.kind = azure_kind(text_in(event, "EventType")).value_or(Kind::kMaintenance);
  notice.start = read_moment(text_in(event, "NotBefore"));
  if (!notice.start && !notice.begun) return not_understood("NotBefore is no time");
  notice.text = plain_text(text_in(event, "EventType") + " " + text_in(event, "Description"));
  notice.acknowledgeable = machines == 1 || !alone_acknowledges;
  return notice;
}

}  // namespace

Result<Notices> read_azure(std::string_view body, const std::string& machine,
                           bool alone_acknowledges) {
  const auto json = parse_json(body, kAnswerDepthMax);
  if (!json) return tl::unexpected(json.error());
  const Json* const events = list_in(*json, "Events");
  if (events == nullptr || events->size() > kNoticesMax) return not_understood("no list of Events");
  Notices notices;
  for (const Json& event : *events) {
    const Json* const resources = list_in(event, "Resources");
    if (resources == nullptr) return not_understood("an event without Resources");
    if (!names(*resources, machine)) continue;
    auto notice = read_azure_event(event, resources->size(), alone_acknowledges);
    if (!notice) return tl::unexpected(notice.error());
    notices.push_back(std::move(*notice));
  }
  return notices;
}

std::string azure_start_request(const std::string& id) {
  return Json{{"StartRequests", Json::array({{{"EventId", id}}})}}.dump();
}

}  // namespace livebtl::watchd
