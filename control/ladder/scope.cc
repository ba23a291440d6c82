// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/scope.cc -- see scope.h.
#include "control/ladder/scope.h"

#include <algorithm>

namespace livebtl::control {
namespace {

constexpr std::string_view kNodeScope = "node:";
constexpr std::size_t kScopeBytesMax = 256;

std::string joined(const std::set<std::string>& names) {
  std::string list;
  for (const std::string& each : names) list += (list.empty() ? "" : ", ") + each;
  return list;
}

/// A standing carries three routings, a status four, besides lists of names: with larger ones no
/// member could answer, and the job could no longer be commanded.
constexpr std::size_t kRoutingBytesMax = 12U << 10U;

/// An upper bound on their size in a message.
std::size_t bytes_of(const core::Rules& rules) {
  std::size_t bytes = 64;
  for (const auto* names : {&rules.excluded, &rules.quiesced, &rules.set_aside}) {
    for (const std::string& name : *names) bytes += name.size() + 3;
  }
  for (const auto& [from, to] : rules.moved) bytes += from.size() + to.size() + 6;
  return bytes;
}

std::size_t bytes_of(const Routing& routing) {
  std::size_t bytes = bytes_of(static_cast<const core::Rules&>(routing)) + 32;
  for (const auto& [name, tuning] : routing.tuning) bytes += name.size() + 64;
  for (const auto& [node, rules] : routing.nodes) bytes += node.size() + 4 + bytes_of(rules);
  return bytes;
}

}  // namespace

bool well_formed_scope(std::string_view scope) noexcept {
  const bool node = scope.starts_with(kNodeScope) && scope.size() > kNodeScope.size();
  return (node || scope == "job") && scope.size() <= kScopeBytesMax;
}

tl::expected<std::string, VerbError> resolve_scope(const std::string& scope,
                                                   const std::set<NodeLabel>& nodes) {
  if (scope.empty() || scope == "job") return "";
  if (!well_formed_scope(scope)) return no(ExitCode::kUsage, "--scope takes job or node:NAME");
  const std::string name = scope.substr(kNodeScope.size());
  std::set<std::string> found, known;
  for (const NodeLabel& each : nodes) {
    known.insert(each.host + " (" + each.node + ")");
    if (name == each.node || name == each.host) found.insert(each.node);
  }
  if (found.size() == 1) return *found.begin();
  if (!found.empty()) {
    return no(ExitCode::kRefused,
              "several nodes go by the name " + name + "; give the id of one: " + joined(found));
  }
  return no(ExitCode::kNotFound, "no node '" + name + "' in this job; it has: " + joined(known));
}

bool rules_otherwise(const core::Rules& rules, const std::string& verb,
                     const std::vector<std::string>& arguments) {
  if (verb == "checkpoint") return !releases(verb, arguments) && !rules.set_aside.empty();
  const std::size_t names = verb == "switch" ? 2 : 1;
  if ((verb != "add" && verb != "switch") || arguments.size() < names) return false;
  const std::string& name = arguments.front();
  const std::string& to = verb == "switch" ? arguments[1] : name;
  const auto moved_else = [&](const std::string& from) {
    const std::string* const at = core::value_for(rules.moved, from);
    return at != nullptr && *at != to;
  };
  return moved_else(name) || moved_else(to) || core::covers(rules.excluded, to) ||
         core::covers(rules.set_aside, to) || core::covers(rules.quiesced, to);
}

bool outgrows(const Routing& after, const Routing& before) {
  return bytes_of(after) > std::max(bytes_of(before), kRoutingBytesMax);
}

}  // namespace livebtl::control
