// SPDX-License-Identifier: BSD-3-Clause
// control/relay/merging.cc -- see merging.h.
#include "control/relay/merging.h"

#include "base/text.h"

namespace livebtl::control {
namespace {

struct Asked {
  std::uint64_t session = 0;
  std::uint32_t via = 0;
};

/// What question() wrote; it may have been changed on its way.
std::optional<Asked> asked_in(std::string_view text) {
  const auto space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto session = parse_number<std::uint64_t>(text.substr(0, space));
  const auto via = parse_number<std::uint32_t>(text.substr(space + 1));
  if (!session || !via) return std::nullopt;
  return Asked{*session, *via};
}

Result<std::string> text_of(const Request& request) {
  return std::visit([](const auto& known) { return encode(known); }, request);
}

}  // namespace

void Merging::ask(const Return& client, const NodeRequest& request, TimeNs now, Ways& ways) {
  const auto key = push_return(client);
  if (key) carry_out(merge_.ask(*key, request, now), now, ways);
}

/// A body is decoded only if the session exists, and it comes from where its question went.
void Merging::bring_back(const Return& to, const Sender& from, const std::string& body, TimeNs now,
                         Ways& ways) {
  const auto asked = asked_in(to.peer);
  if (!asked || !merge_.knows(asked->session)) return;
  if (!from.member && !merge_.went_to(asked->session, asked->via, from.relay)) return;
  const auto message = decode(body);
  if (!message) return;
  if (const auto* standing = std::get_if<Standing>(&*message)) {
    if (from.member != standing->member.process) return;  // in its own name only
    carry_out(merge_.heard(asked->session, *standing, now), now, ways);
  } else if (const auto* told = std::get_if<NodeStanding>(&*message)) {
    if (from.member) return;
    carry_out(merge_.heard(asked->session, asked->via, *told, now), now, ways);
  }
}

void Merging::turn(TimeNs now, Ways& ways) { carry_out(merge_.turn(now), now, ways); }

void Merging::carry_out(const std::vector<MergeAction>& actions, TimeNs now, Ways& ways) {
  for (const MergeAction& action : actions)
    std::visit([&](const auto& wanted) { carry_out(wanted, now, ways); }, action);
}

/// A member that cannot be reached is reported missing, like a silent one.
void Merging::carry_out(const ToMembers& asked, TimeNs now, Ways& ways) {
  const auto body = text_of(asked.request);
  if (!body) return;
  const Envelope envelope = question(asked.session, 0, *body);
  for (const ProcessId member : asked.members) {
    if (ways.to_member(envelope, member)) continue;
    if (ways.has_ended(member)) carry_out(merge_.gone(asked.session, member, now), now, ways);
  }
}

void Merging::carry_out(const ToRelay& asked, TimeNs, Ways& ways) {
  if (const auto body = encode(asked.request))
    ways.to_relay(question(asked.session, asked.via, *body), asked.relay);
}

void Merging::carry_out(const ToClient& told, TimeNs, Ways& ways) {
  const auto to = pop_return(told.client);
  if (!to) return;
  for (const std::string& body : encode_parts(told.answer)) ways.answer(*to, body);
}

Envelope Merging::question(std::uint64_t session, std::uint32_t via, std::string body) const {
  const std::string asked = std::to_string(session) + " " + std::to_string(via);
  return {.peer = "",
          .back = push_return({listener_, asked, ""}).value_or(""),
          .to = "",
          .body = std::move(body)};
}

}  // namespace livebtl::control
