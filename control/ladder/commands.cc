// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/commands.cc -- verbs as changes of the routing.
#include "control/ladder/commands.h"

#include <algorithm>
#include <array>

#include "control/ladder/assignments.h"
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

bool is_away(const core::Rules& rules, const std::string& name) {
  return rules.excluded.contains(name) || rules.set_aside.contains(name);
}

/// `return` brings back only the transports that were in use.
void apply_checkpoint(const std::vector<std::string>& arguments, core::Rules& rules,
                      const core::Rules& of_job) {
  if (arguments.front() == "return") return rules.set_aside.clear();
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (!is_away(rules, name) && !is_away(of_job, name)) rules.set_aside.insert(name);
  }
}

/// What a verb other than `set` and `checkpoint` makes of the rules of the job, or of a node.
void apply_rule(std::string_view verb, const std::vector<std::string>& arguments,
                core::Rules& rules) {
  const std::string& name = arguments.front();
  if (verb == "add") {
    rules.excluded.erase(name);
    rules.set_aside.erase(name);
    rules.quiesced.erase(name);
    rules.moved.erase(name);
  } else if (verb == "quiesce") {
    rules.quiesced.insert(name);
  } else if (verb == "remove") {
    rules.excluded.insert(name);
  } else {
    const std::string& to = arguments[1];
    rules.moved.erase(to);
    rules.moved[name] = to;
    rules.quiesced.erase(to);
  }
}

std::string count_problem(std::string_view verb, std::size_t count) {
  if (verb == "switch") return count == 2 ? "" : "switch needs two transports: FROM TO";
  if (verb != "set") return count == 1 ? "" : std::string(verb) + " needs one transport";
  return count >= 2 && count <= 4
             ? ""
             : "set needs a transport and exclusivity=N, weight=N or, of sm, single-copy=WAY";
}

tl::expected<Routing, VerbError> ruled(std::string_view verb,
                                       const std::vector<std::string>& arguments, Routing routing,
                                       const std::string& node) {
  if (verb == "set") {
    if (!node.empty()) return no(ExitCode::kUsage, "set is for the whole job: it has no --scope");
    apply_set(arguments, routing);
    return routing;
  }
  // A transport to be used on a node must be allowed in the job.
  const std::string& used = verb == "switch" ? arguments[1] : arguments.front();
  const bool uses = verb == "switch" || verb == "add";
  if (uses && (verb == "switch" || !node.empty()) && is_away(routing, used)) {
    return no(ExitCode::kRefused, used + " has been removed" +
                                      (node.empty() ? "" : " from the job") + "; `btlctl add " +
                                      used + "` brings it back");
  }
  if (uses && !node.empty() && routing.quiesced.contains(used)) {
    return no(ExitCode::kRefused,
              used + " is quiesced in the whole job; `btlctl add " + used + "` ends that");
  }
  core::Rules& rules = node.empty() ? routing : routing.nodes[node];
  if (verb == "checkpoint") {
    apply_checkpoint(arguments, rules, routing);
    if (!node.empty() && rules == core::Rules{}) routing.nodes.erase(node);
    return routing;
  }
  if (verb == "switch" && !node.empty() && is_away(rules, used)) {
    return no(ExitCode::kRefused, used + " has been removed from that node; `btlctl add " + used +
                                      " --scope node:" + node + "` brings it back");
  }
  apply_rule(verb, arguments, rules);
  // On that node no rule of the job, present or later, moves the pairs elsewhere.
  if (verb == "switch" && !node.empty()) rules.moved[used] = used;
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
  if (verb == "set") {
    std::string wrong = set_problem(resolved);
    if (!wrong.empty()) return no(ExitCode::kUsage, std::move(wrong));
  }
  return resolved;
}

tl::expected<Routing, VerbError> apply_verb(std::string_view verb,
                                            const std::vector<std::string>& arguments,
                                            const Routing& routing, const std::string& node) {
  auto after = ruled(verb, arguments, routing, node);
  if (after && outgrows(*after, routing)) {
    return no(ExitCode::kRefused,
              "too many nodes have rules of their own (" + std::to_string(after->nodes.size()) +
                  ") to fit into a message; give the command for the whole job, or take some back");
  }
  return after;
}

}  // namespace livebtl::control
