// SPDX-License-Identifier: BSD-3-Clause
// control/wire/name_checks.cc -- see name_checks.h.
#include "control/wire/name_checks.h"

#include <algorithm>
#include <cctype>

#include "base/transport_name.h"

namespace livebtl::control {
namespace {

bool good_transport(const std::string& name) { return is_transport_name(name); }

bool good_names(const core::Rules& rules) {
  return std::ranges::all_of(rules.excluded, good_transport) &&
         std::ranges::all_of(rules.quiesced, good_transport) &&
         std::ranges::all_of(rules.set_aside, good_transport) &&
         std::ranges::all_of(rules.moved, [](const auto& move) {
           return good_transport(move.first) && good_transport(move.second);
         });
}

}  // namespace

bool good_node(std::string_view name) {
  return name.size() == 16 &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

bool plain_name(std::string_view text, std::size_t bytes_max) {
  return !text.empty() && text.size() <= bytes_max &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
         });
}

std::string check_names(const Routing& routing) {
  bool all = good_names(routing);
  for (const auto& [name, tuning] : routing.tuning) all = all && good_transport(name);
  for (const auto& [node, rules] : routing.nodes) all = all && good_names(rules);
  if (!all) return "a transport's name has " + std::string(kTransportNameTakes);
  const bool nodes =
      std::ranges::all_of(routing.nodes, [](const auto& each) { return good_node(each.first); });
  return nodes ? "" : "a node's id has 16 hexadecimal digits";
}

}  // namespace livebtl::control
