// SPDX-License-Identifier: BSD-3-Clause
// watchd/texts/slurm_text.cc -- see notice_texts.h.
#include <algorithm>

#include "watchd/texts/fields.h"
#include "watchd/texts/notice_texts.h"

namespace livebtl::watchd {
namespace {

/// "IDLE+DRAIN", "mixed,drain", "drng@" or "DRAINED*": trailing marks say other things about the
/// node.
bool says_drain(std::string_view states) {
  while (!states.empty()) {
    const auto end = std::min(states.find_first_of("+,"), states.size());
    std::string word(states.substr(0, end));
    while (!word.empty() &&
           std::string_view("*~#!%$@^-").find(word.back()) != std::string_view::npos)
      word.pop_back();
    for (char& c : word) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    if (word == "DRAIN" || word == "DRAINED" || word == "DRAINING" || word == "DRNG") return true;
    states.remove_prefix(std::min(end + 1, states.size()));
  }
  return false;
}

/// The word after "NAME=", where that begins a word; "": not there.
std::string_view value_of(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string_view::npos;
       at += name.size()) {
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n';
    if (!begins) continue;
    const auto value = text.substr(at + name.size());
    return value.substr(0, value.find_first_of(" \n"));
  }
  return {};
}

/// The state is an array of words or, in older versions, one text.
std::optional<bool> drain_in(const Json& node) {
  const Json* const state = member_in(node, "state");
  if (state == nullptr) return std::nullopt;
  if (state->is_string()) return says_drain(state->get_ref<const std::string&>());
  if (!state->is_array()) return std::nullopt;
  return std::any_of(state->begin(), state->end(), [](const Json& each) {
    return each.is_string() && says_drain(each.get_ref<const std::string&>());
  });
}

Notices drained(bool is_drained, const std::string& node, std::string_view reason) {
  if (!is_drained) return {};
  Notice notice{.id = "drain-" + node, .kind = Kind::kDrain};
  notice.text = plain_text("drained: " + std::string(reason.substr(0, kTextBytesMax)));
  return {notice};
}

Result<Notices> read_slurm_json(std::string_view output, const std::string& node) {
  const auto json = parse_json(output, kAnswerDepthMax);
  if (!json) return tl::unexpected(json.error());
  const Json* const nodes = list_in(*json, "nodes");
  if (nodes == nullptr) return not_understood("no list of nodes");
  for (const Json& each : *nodes) {
    if (text_in(each, "name") != node) continue;
    const auto drain = drain_in(each);
    if (!drain) return not_understood("a node without state");
    return drained(*drain, node, text_in(each, "reason"));
  }
  return not_understood("node " + node + " is not in it");
}

}  // namespace

Result<Notices> read_slurm(std::string_view output, const std::string& node) {
  if (output.starts_with('{')) return read_slurm_json(output, node);
  const auto states = value_of(output, "State=");
  if (value_of(output, "NodeName=") != node || states.empty())
    return not_understood("it says nothing of node " + node);
  return drained(says_drain(states), node, value_of(output, "Reason="));
}

}  // namespace livebtl::watchd
