// SPDX-License-Identifier: BSD-3-Clause
// control/client/job_links_nodes.cc -- see job_links.h: a coordinator's questions to whole nodes,
// via relays that merge. Threads: one.
#include <algorithm>
#include <set>

#include "base/hex.h"
#include "base/secret.h"
#include "control/client/job_links.h"

namespace livebtl::control {
namespace {

/// This node's relay among the names of relays; it sorts first.
constexpr std::string_view kHere = "";
/// Prefix of the tag that a relay's answers return. A random number follows, known only to that
/// relay and those that lead to it.
constexpr std::string_view kNodeTag = "node ";
constexpr std::string_view kGatewayTag = "gateway";

}  // namespace

/// Members of this node are asked directly once its relay is silent: a stopped relay must not cut
/// them off from a command on its own node.
const std::string* JobLinks::merging_relay_of(MemberId member) const {
  static const std::string here(kHere);
  if (!outside_ && holds(local_, member)) {
    const bool speaks = gateway_merges_ && !questions_.silent(here, monotonic_now());
    return speaks ? &here : nullptr;
  }
  const auto found = merging_.find(member.process);
  return found == merging_.end() ? nullptr : &found->second;
}

void JobLinks::send(const std::vector<Send>& sends) {
  const auto relay_of = [this](MemberId member) { return merging_relay_of(member); };
  for (const Question& question : questions_.put(sends, relay_of, monotonic_now())) {
    std::visit([this](const auto& known) { ask(known); }, question);
  }
}

/// All members get the same request for a rung, one after the other: it is encoded once.
void JobLinks::ask(const Send& question) {
  ++sent_.to_members;
  if (asked_body_.empty() || asked_ != question.request) {
    const auto body =
        std::visit([](const auto& request) { return encode(request); }, question.request);
    if (!body) return;
    asked_ = question.request;
    asked_body_ = *body;
  }
  if (const auto route = route_to(question.to)) send_encoded(*route, "", asked_body_);
}

/// What is too long, or cannot be sent whole, goes in parts.
void JobLinks::ask(const AskRelay& question) {
  auto [tag, is_new] = node_tags_.try_emplace(question.relay);
  if (is_new) tag->second = std::string(kNodeTag) + hex_id(random_u64());
  const std::string& back = tag->second;
  if (send_to_relay(question.relay, back, question.request)) {
    ++sent_.to_relays;
    return;
  }
  const auto apart = questions_.apart(question);
  for (const AskRelay& one : apart) ask(one);
  if (!apart.empty()) return;
  for (const Send& one : questions_.each_by_itself(question)) ask(one);
}

/// false: not sent.
bool JobLinks::send_to_relay(const std::string& relay, const std::string& back,
                             const Message& message) {
  if (relay != kHere) return send({relay, ProcessId{}}, back, message);
  const auto body = encode(message);
  LocalLink* link = gateway();
  return body && link != nullptr && link->send({.peer = "", .back = back, .to = "", .body = *body});
}

/// This node's relay says itself whether it merges.
bool JobLinks::ask_gateway() {
  if (outside_ || gateway() == nullptr) return false;
  return send_to_relay(std::string(kHere), std::string(kGatewayTag),
                       MembersRequest{job_.id, kNoMembers});
}

void JobLinks::hear_page(const std::string& back, const MembersAnswer& page) {
  remote_.learn(page.relays);
  if (back == kGatewayTag) gateway_merges_ = page.merges;
  if (back.empty() || back == kGatewayTag) {
    ++relay_answers_;
  } else {
    remote_.answer(back, page);
  }
}

NodeQuestions::Heard JobLinks::hear_relay(const std::string& back, const NodeStanding& told) {
  const auto is_it = [&back](const auto& tag) { return tag.second == back; };
  const auto tag = std::find_if(node_tags_.begin(), node_tags_.end(), is_it);
  return tag == node_tags_.end() ? NodeQuestions::Heard{} : questions_.hear(tag->first, told);
}

std::vector<std::string> JobLinks::silent_relays() const {
  std::set<std::string> names;
  for (const auto& [process, relay] : merging_) names.insert(relay);
  std::erase_if(names, [this](const std::string& relay) {
    return !questions_.silent(relay, monotonic_now());
  });
  return {names.begin(), names.end()};
}

}  // namespace livebtl::control
