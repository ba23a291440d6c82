// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/commands.cc -- verbs as changes to the routing.
#include "control/ladder/commands.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/transport_name.h"
#include "control/ladder/assignments.h"
#include "control/ladder/rules.h"
#include "control/ladder/scope.h"

namespace livebtl::control {
namespace {

std::string known_names(const std::vector<KnownTransport>& transports) {
  std::string list;
  for (const auto& transport : transports) list += (list.empty() ? "" : ", ") + transport.name;
  return list.empty() ? "none" : list;
}

tl::expected<std::string, VerbError> canonical(const std::string& name,
                                               const std::vector<KnownTransport>& transports) {
  for (const auto& transport : transports) {
    if (name == transport.name || (!name.empty() && name == transport.alias)) return transport.name;
  }
  const std::string word(canonical_transport(name));
  for (const auto& transport : transports) {
    if (is_meant_by(transport.name, word)) return word;
  }
  return no(ExitCode::kNotFound,
            "no transport '" + name + "' in this job; it has: " + known_names(transports));
}

tl::expected<std::vector<std::string>, VerbError> resolve_checkpoint(
    const std::vector<std::string>& arguments, const std::vector<KnownTransport>& transports) {
  const bool prepares = !arguments.empty() && arguments.front() == "prepare";
  const bool returns = arguments.size() == 1 && arguments.front() == "return";
  if (!prepares && !returns)
    return no(ExitCode::kUsage, "checkpoint takes prepare, with transports if any, or return");
  std::vector<std::string> resolved = {arguments.front()};
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    auto name = canonical(arguments[i], transports);
    if (!name) return tl::unexpected<VerbError>(name.error());
    resolved.push_back(std::move(*name));
  }
  if (!prepares || arguments.size() > 1) return resolved;
  for (const KnownTransport& transport : transports) {
    if (transport.bound_to_device) resolved.push_back(transport.name);
  }
  return resolved;
}

std::string count_problem(std::string_view verb, std::size_t count) {
  if (verb == "switch") return count == 2 ? "" : "switch needs two transports: FROM TO";
  if (verb != "set") return count == 1 ? "" : std::string(verb) + " needs one transport";
  return count >= 2 && count <= 4
             ? ""
             : "set needs a transport and exclusivity=N, weight=N or, of sm, single-copy=WAY";
}

/// Why `add` or `switch` cannot use its transport; nullopt: it can.
std::optional<VerbError> cannot_use(std::string_view verb, const std::string& used,
                                    const Routing& routing, const std::string& node,
                                    const Names& known) {
  const auto refused = [](std::string text) {
    return VerbError{ExitCode::kRefused, std::move(text)};
  };
  const bool switches = verb == "switch";
  // A transport to be used on a node must be allowed in the job.
  if ((switches || !node.empty()) && is_away(routing, used, known)) {
    return refused(used + " is not in use" + (node.empty() ? "" : " in the job") +
                   ": it was removed, or never added; `btlctl add " + used + "` has it used");
  }
  if (!node.empty() && core::covers(routing.quiesced, used))
    return refused(used + " is quiesced in the whole job; `btlctl add " + used + "` ends that");
  const auto of_node = routing.nodes.find(node);
  if (!node.empty() && of_node == routing.nodes.end()) return std::nullopt;
  const core::Rules& rules = node.empty() ? routing : of_node->second;
  if (switches && !node.empty() && is_away(rules, used, known)) {
    return refused(used + " has been removed from that node; `btlctl add " + used +
                   " --scope node:" + node + "` brings it back");
  }
  if (!is_inseparable(rules, used, known)) return std::nullopt;
  const std::string family(family_of(used));
  return refused(family + " is ruled as a whole, and one of its transports is called just " +
                 family + "; `btlctl add " + family + "` ends that for all of them");
}

tl::expected<Routing, VerbError> ruled(std::string_view verb,
                                       const std::vector<std::string>& arguments, Routing routing,
                                       const std::string& node, const Names& known) {
  if (verb == "set") {
    if (!node.empty()) return no(ExitCode::kUsage, "set is for the whole job: it has no --scope");
    apply_set(arguments, routing);
    return routing;
  }
  const std::string& used = verb == "switch" ? arguments[1] : arguments.front();
  if (verb == "switch" || verb == "add") {
    if (auto why = cannot_use(verb, used, routing, node, known))
      return tl::unexpected<VerbError>(*why);
  }
  core::Rules& rules = node.empty() ? routing : routing.nodes[node];
  if (verb == "checkpoint") {
    apply_checkpoint(arguments, rules, routing);
  } else {
    apply_rule(verb, arguments, rules, known);
    // On that node, no rule of the job, now or later, moves the pairs elsewhere.
    if (verb == "switch" && !node.empty()) rules.moved[used] = used;
  }
  if (!node.empty() && rules == core::Rules{}) routing.nodes.erase(node);
  return routing;
}

}  // namespace

bool is_routing_verb(std::string_view verb) noexcept {
  constexpr std::array<std::string_view, 6> kVerbs = {"add",    "quiesce", "remove",
                                                      "switch", "set",     "checkpoint"};
  return std::find(kVerbs.begin(), kVerbs.end(), verb) != kVerbs.end();
}

bool releases(std::string_view verb, const std::vector<std::string>& arguments) noexcept {
  return verb == "remove" ||
         (verb == "checkpoint" && !arguments.empty() && arguments.front() == "prepare");
}

bool is_return(std::string_view verb, const std::vector<std::string>& arguments) noexcept {
  return verb == "checkpoint" && !releases(verb, arguments);
}

std::string wanted_by(std::string_view verb, const std::vector<std::string>& arguments) {
  if (verb == "add" && !arguments.empty()) return arguments.front();
  return verb == "switch" && arguments.size() > 1 ? arguments[1] : "";
}

tl::expected<std::vector<std::string>, VerbError> resolve_arguments(
    std::string_view verb, const std::vector<std::string>& arguments,
    const std::vector<KnownTransport>& transports) {
  if (verb == "resume" || verb == "abort") {
    if (arguments.empty()) return arguments;
    return no(ExitCode::kUsage, std::string(verb) + " takes no transport");
  }
  if (!is_routing_verb(verb)) {
    return no(ExitCode::kUsage, "no command '" + std::string(verb) + "'");
  }
  if (verb == "checkpoint") return resolve_checkpoint(arguments, transports);
  const std::size_t names = verb == "switch" ? 2 : 1;
  if (std::string wrong = count_problem(verb, arguments.size()); !wrong.empty()) {
    return no(ExitCode::kUsage, std::move(wrong));
  }
  std::vector<std::string> resolved = arguments;
  for (std::size_t i = 0; i < names; ++i) {
    auto name = canonical(arguments[i], transports);
    if (!name) return tl::unexpected<VerbError>(name.error());
    resolved[i] = std::move(*name);
  }
  if (verb == "switch" && resolved[0] == resolved[1]) {
    return no(ExitCode::kUsage, "switch needs two different transports");
  }
  if (verb == "switch" && is_meant_by(resolved[0], resolved[1])) {
    return no(ExitCode::kUsage, resolved[0] + " is one of " + resolved[1] +
                                    "; name the one that is to be used instead");
  }
  if (verb == "set") {
    std::string wrong = set_problem(resolved);
    if (!wrong.empty()) return no(ExitCode::kUsage, std::move(wrong));
  }
  return resolved;
}

tl::expected<Routing, VerbError> apply_verb(std::string_view verb,
                                            const std::vector<std::string>& arguments,
                                            const Routing& routing, const std::string& node,
                                            const std::set<std::string>& known) {
  auto after = ruled(verb, arguments, routing, node, known);
  if (after && outgrows(*after, routing)) {
    return no(ExitCode::kRefused,
              "too many nodes have rules of their own (" + std::to_string(after->nodes.size()) +
                  ") to fit into a message; give the command for the whole job, or take some back");
  }
  return after;
}

}  // namespace livebtl::control
