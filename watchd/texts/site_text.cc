// SPDX-License-Identifier: BSD-3-Clause
// watchd/texts/site_text.cc -- a site's own notices, in a file or on the socket: see
// notice_texts.h.
#include "watchd/texts/fields.h"
#include "watchd/texts/moment.h"
#include "watchd/texts/notice_texts.h"

namespace livebtl::watchd {
namespace {

constexpr double kInSecondsMax = 86'400.0 * 365;

Result<Notice> read_event(const Json& event) {
  Notice notice;
  notice.id = text_in(event, "event");
  if (!well_formed_event_id(notice.id))
    return fail(Errc::kInvalid, "an event needs \"event\": its name, without blanks");
  const std::string kind = text_in(event, "kind");
  const auto known = read_kind(kind.empty() ? "maintenance" : kind);
  if (!known) return fail(Errc::kInvalid, "\"kind\" is '" + plain_text(kind) + "', which is none");
  notice.kind = *known;
  if (member_in(event, "start") != nullptr) {
    notice.start = read_moment(text_in(event, "start"));
    if (!notice.start) return fail(Errc::kInvalid, "\"start\" is a time as 2026-11-26T08:00:00Z");
  }
  notice.text = plain_text(text_in(event, "text"));
  return notice;
}

}  // namespace

Result<Notices> read_notice_file(std::string_view text) {
  const auto json = parse_json(text, kAnswerDepthMax);
  if (!json) return tl::unexpected(json.error());
  const Json* const events = list_in(*json, "events");
  if (events == nullptr || events->size() > kNoticesMax)
    return fail(Errc::kInvalid, "it takes {\"events\": [...]}, with at most " +
                                    std::to_string(kNoticesMax) + " events");
  Notices notices;
  for (const Json& event : *events) {
    auto notice = read_event(event);
    if (!notice) return tl::unexpected(notice.error());
    notices.push_back(std::move(*notice));
  }
  return notices;
}

Result<SocketLine> read_socket_line(std::string_view line, UnixNs now) {
  const auto json = parse_json(line, kAnswerDepthMax);
  if (!json) return tl::unexpected(json.error());
  auto notice = read_event(*json);
  if (!notice) return tl::unexpected(notice.error());
  SocketLine read{std::move(*notice)};
  if (const Json* over = member_in(*json, "over"); over != nullptr)
    read.over = over->is_boolean() && over->get<bool>();
  if (const Json* in = member_in(*json, "in_s"); in != nullptr) {
    const double seconds = in->is_number() ? in->get<double>() : -1;
    if (!(seconds >= 0 && seconds <= kInSecondsMax))
      return fail(Errc::kInvalid, "\"in_s\" is a number of seconds from now");
    read.notice.start = now + static_cast<UnixNs>(seconds * 1e9);
  }
  return read;
}

}  // namespace livebtl::watchd
