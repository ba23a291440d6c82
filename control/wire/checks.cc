// SPDX-License-Identifier: BSD-3-Clause
// control/wire/checks.cc -- see checks.h.
#include "control/wire/checks.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.h"
#include "base/transport_name.h"
#include "control/ladder/commands.h"
#include "control/wire/route.h"

namespace livebtl::control {
namespace {

/// Far more than a process has today (base/transport_name.h): a later version may have more.
constexpr std::size_t kTransportsToldMax = 64;

// -- checks of names

bool good_transport(const std::string& name) { return is_transport_name(name); }

bool good_names(const core::Rules& rules) {
  return std::ranges::all_of(rules.excluded, good_transport) &&
         std::ranges::all_of(rules.quiesced, good_transport) &&
         std::ranges::all_of(rules.set_aside, good_transport) &&
         std::ranges::all_of(rules.moved, [](const auto& move) {
           return good_transport(move.first) && good_transport(move.second);
         });
}

/// Does it have the form of core::node_name()?
bool good_node(std::string_view name) {
  return name.size() == 16 &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

/// "", or what is wrong with the names of transports and nodes.
std::string check_names(const Routing& routing) {
  bool all = good_names(routing);
  for (const auto& [name, tuning] : routing.tuning) all = all && good_transport(name);
  for (const auto& [node, rules] : routing.nodes) all = all && good_names(rules);
  if (!all) return "a transport's name has " + std::string(kTransportNameTakes);
  const bool nodes =
      std::ranges::all_of(routing.nodes, [](const auto& each) { return good_node(each.first); });
  return nodes ? "" : "a node's id has 16 hexadecimal digits";
}

// -- checks of meaning, after those of form. Each returns "" or what is wrong.

std::string check(const Operation& operation) {
  if (operation.arguments.size() > 8) return "'operation.arguments' has too many entries";
  if (operation.id == 0) return "";
  if (!is_routing_verb(operation.verb)) return "'operation.verb' is unknown";
  if (!operation.node.empty() && !good_node(operation.node))
    return "'operation.node' must be a node's id, or empty";
  const std::string wrong = check_names(operation.before);
  return wrong.empty() ? check_names(operation.after) : wrong;
}

std::string check_job(const std::string& job) {
  return job.size() <= 64 && is_plain_name(job) ? "" : "'job' is not a job id";
}

/// A coordinator takes the number after the highest that it hears of, so there has to be one.
std::string check_highest(const Term& term) {
  return term.number <= kTermMax ? "" : "'term.number' is too large";
}

std::string check_term(const Term& term) {
  return term.number > 0 && term.coordinator != 0 ? check_highest(term) : "'term' must not be zero";
}

std::string first_of(std::string one, std::string other) {
  return one.empty() ? std::move(other) : std::move(one);
}

std::string check(const Order& order) {
  if (order.seq == 0) return "'seq' must not be zero";
  if (order.operation.id == 0) return "'operation.id' must not be zero";
  if (order.by.size() > kByBytesMax) return "'by' is too long";
  return first_of(check_job(order.job), first_of(check_term(order.term), check(order.operation)));
}
std::string check(const PromiseRequest& request) {
  return first_of(check_job(request.job), check_term(request.term));
}
std::string check(const LadderEnd& end) {
  return first_of(check_job(end.job), check_term(end.term));
}
/// For one member's standing, and for what a group of members has in common: a relay's client
/// copies that for each member.
std::string check_place(const Standing& standing) {
  if (standing.transports.size() > kTransportsToldMax) return "'transports' has too many entries";
  const std::string wrong = first_of(check(standing.operation), check_names(standing.routing));
  return first_of(wrong, check_highest(standing.term));
}
std::string check(const Standing& standing) {
  if (standing.member.process == ProcessId{}) return "'member.process' must not be zero";
  return check_place(standing);
}
std::string check(const PlanRequest& request) {
  return first_of(check_job(request.job), check_names(request.routing));
}
std::string check(const StatusAnswer& answer) { return check(answer.standing); }
std::string check(const WatchEvent& event) {
  const bool known = event.kind == "standing" || event.kind == "joined" || event.kind == "left";
  return known ? check(event.standing) : "'kind' must be standing, joined or left";
}
std::string check(const MembersRequest& request) {
  return request.job.empty() ? "" : check_job(request.job);
}
/// As in a hello (docs/WIRE.md).
std::string check(const AddressesAnswer& answer) {
  if (answer.member.process == ProcessId{}) return "'member.process' must not be zero";
  if (answer.addresses.size() > 8) return "'addresses' has more than 8 entries";
  for (const auto& [name, address] : answer.addresses) {
    if (!is_transport_name(name)) return "'addresses' has a key that is no transport's name";
    if (address.size() > 512) return "'addresses." + name + "' has more than 512 bytes";
  }
  return "";
}
template <class T>
requires requires(const T& request) { request.job; }
std::string check(const T& request) { return check_job(request.job); }
std::string check(const SecretAnswer& answer) {
  const bool digits = std::all_of(answer.secret.begin(), answer.secret.end(),
                                  [](unsigned char c) { return std::isxdigit(c) != 0; });
  return digits && (answer.secret.empty() || answer.secret.size() == 64)
             ? ""
             : "'secret' must be 64 hexadecimal digits, or empty";
}
std::string check(const HoldRequest& request) {
  const bool starts = request.action == HoldAction::kStart;
  if (request.id == 0 && request.action != HoldAction::kAsk) return "'id' must not be zero";
  const bool leases = starts || request.action == HoldAction::kClaim;
  if (leases && (request.lease_ms == 0 || request.lease_ms > kHoldLeaseMaxMs))
    return "'lease_ms' must be from 1 to 86400000";
  if ((starts || request.action == HoldAction::kRestore) && request.incarnation == Incarnation{})
    return "'incarnation' must not be zero";
  if (request.relays.size() > kHoldRelaysMax ||
      !std::all_of(request.relays.begin(), request.relays.end(), valid_relay))
    return "'relays' must be at most 1024 addresses of relays";
  return check_job(request.job);
}
std::string check(const HoldAnswer& answer) {
  return answer.member.process == ProcessId{} ? "'member.process' must not be zero" : "";
}
std::string check(const PageAnswer& answer) {
  return answer.page.member.process == ProcessId{} ? "'page.member.process' must not be zero" : "";
}
std::string check(const NodeRequest& request) {
  if (members_in(request) == 0) return "'members' must not be empty";
  if (request.onward.size() >= kRelayFanOut) return "'onward' has more than 15 entries";
  for (const NodeShare& share : request.onward) {
    if (!valid_relay(share.relay)) return "'onward.relay' is not a relay";
    if (share.members.empty()) return "'onward.members' must not be empty";
  }
  if (request.question == NodeQuestion::kOrder) return check(request.order);
  return request.question == NodeQuestion::kStanding
             ? check_job(request.order.job)
             : first_of(check_job(request.order.job), check_term(request.order.term));
}
std::string check(const NodeStanding& answer) {
  for (const StandingGroup& group : answer.groups) {
    std::string wrong = first_of(check_group(group), check_place(group.shared));
    if (!wrong.empty()) return wrong;
  }
  return "";
}
std::string check(const PlanAnswer&) { return ""; }
std::string check(const ListAnswer&) { return ""; }
std::string check(const ErrorAnswer&) { return ""; }

}  // namespace

std::string check_message(const Message& message) {
  return std::visit([](const auto& known) { return check(known); }, message);
}

}  // namespace livebtl::control
