// SPDX-License-Identifier: BSD-3-Clause
// control/scope.cc -- see scope.h.
#include "control/scope.h"

namespace livebtl::control {
namespace {

constexpr std::string_view kNodeScope = "node:";
constexpr std::size_t kScopeBytesMax = 256;

tl::unexpected<VerbError> refusal(ExitCode code, std::string text) {
  return tl::unexpected<VerbError>(VerbError{code, std::move(text)});
}

std::string joined(const std::set<std::string>& names) {
  std::string list;
  for (const std::string& each : names) list += (list.empty() ? "" : ", ") + each;
  return list;
}

}  // namespace

bool well_formed_scope(std::string_view scope) noexcept {
  const bool node = scope.starts_with(kNodeScope) && scope.size() > kNodeScope.size();
  return (node || scope == "job") && scope.size() <= kScopeBytesMax;
}

tl::expected<std::string, VerbError> resolve_scope(const std::string& scope,
                                                   const std::set<NodeLabel>& nodes) {
  if (scope.empty() || scope == "job") return "";
  if (!well_formed_scope(scope)) return refusal(ExitCode::kUsage, "--scope takes job or node:NAME");
  const std::string name = scope.substr(kNodeScope.size());
  std::set<std::string> found, known;
  for (const NodeLabel& each : nodes) {
    known.insert(each.host + " (" + each.node + ")");
    if (name == each.node || name == each.host) found.insert(each.node);
  }
  if (found.size() == 1) return *found.begin();
  if (!found.empty()) {
    return refusal(ExitCode::kRefused, "several nodes go by the name " + name +
                                           "; give the id of one: " + joined(found));
  }
  return refusal(ExitCode::kNotFound,
                 "no node '" + name + "' in this job; it has: " + joined(known));
}

}  // namespace livebtl::control
