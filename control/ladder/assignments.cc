// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/assignments.cc -- see assignments.h.
#include "control/ladder/assignments.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/single_copy.h"
#include "base/text.h"
#include "base/transport_name.h"

namespace livebtl::control {
namespace {

constexpr std::uint32_t kWeightMax = 1'000'000;
constexpr std::string_view kSingleCopy = "single-copy";

/// "weight=5", "single-copy=none" or "weight=default".
struct Assignment {
  std::string_view key;
  std::optional<std::uint32_t> value;
  std::optional<SingleCopy> way;  // of single-copy
};

std::optional<Assignment> parse_assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  Assignment assignment{text.substr(0, equals), std::nullopt, std::nullopt};
  const std::string_view value = text.substr(equals + 1);
  const bool copies = assignment.key == kSingleCopy;
  if (!copies && assignment.key != "exclusivity" && assignment.key != "weight") return std::nullopt;
  if (value == "default") return assignment;
  if (copies) {
    assignment.way = parse_single_copy(value);
    return assignment.way ? std::optional(assignment) : std::nullopt;
  }
  assignment.value = parse_number<std::uint32_t>(value);
  if (!assignment.value) return std::nullopt;
  // Weight 0 is not offered: `quiesce` does that.
  const bool is_share = *assignment.value >= 1 && *assignment.value <= kWeightMax;
  if (assignment.key == "weight" && !is_share) return std::nullopt;
  return assignment;
}

}  // namespace

std::string assignments_problem(std::span<const std::string> assignments) {
  std::vector<std::string_view> keys;
  for (const std::string& text : assignments) {
    const auto assignment = parse_assignment(text);
    if (!assignment) {
      return "'" + text +
             "' is not exclusivity=N (0 to 4294967295), weight=N (1 to 1000000) or single-copy=WAY "
             "(auto, cma, knem, none); each may be default";
    }
    if (std::find(keys.begin(), keys.end(), assignment->key) != keys.end()) {
      return std::string(assignment->key) + " is given twice";
    }
    keys.push_back(assignment->key);
  }
  return "";
}

std::string set_problem(const std::vector<std::string>& arguments) {
  const auto assignments = std::span(arguments).subspan(1);
  std::string wrong = assignments_problem(assignments);
  const bool copies = std::ranges::any_of(
      assignments, [](const std::string& each) { return each.starts_with(kSingleCopy); });
  if (wrong.empty() && copies && arguments[0] != "sm")
    return "single-copy is of sm alone; " + arguments[0] + " has no choice of ways to make";
  return wrong;
}

namespace {

void put(const Assignment& assignment, core::Tuning& tuning) {
  if (assignment.key == kSingleCopy)
    tuning.single_copy = assignment.way;
  else
    (assignment.key == "weight" ? tuning.weight : tuning.exclusivity) = assignment.value;
}

}  // namespace

// What is set for a family applies to all of it, whatever was set for one of its transports before.
void apply_set(const std::vector<std::string>& arguments, Routing& routing) {
  routing.tuning.try_emplace(arguments[0]);
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const Assignment assignment = *parse_assignment(arguments[i]);
    const Assignment nothing{assignment.key, std::nullopt, std::nullopt};
    for (auto& [transport, tuning] : routing.tuning) {
      if (is_meant_by(transport, arguments[0]))
        put(transport == arguments[0] ? assignment : nothing, tuning);
    }
  }
  std::erase_if(routing.tuning, [](const auto& each) { return each.second == core::Tuning{}; });
}

}  // namespace livebtl::control
