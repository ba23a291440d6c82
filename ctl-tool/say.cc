// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/say.cc -- see say.h.
#include "ctl-tool/say.h"

#include <cstdio>

#include "ctl-tool/table.h"

namespace livebtl::tool {

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void print_json(const Json& document) {
  print(document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void complain(const std::string& text) {
  std::fprintf(stderr, "btlctl: %s\n", printable_lines(text).c_str());
}

control::Outcome plain_outcome(const CommandLine& line, ExitCode code, std::string text) {
  control::Outcome outcome;
  outcome.code = code;
  outcome.verb = line.command;
  outcome.arguments = line.arguments;
  outcome.text = std::move(text);
  return outcome;
}

ExitCode fail_early(const CommandLine& line, const NoJob& why) {
  complain(why.text);
  if (line.json) print(control::outcome_json(plain_outcome(line, why.code, why.text)) + "\n");
  return why.code;
}

Json as_json(const control::Message& message) {
  const auto text = control::encode(message);
  if (!text) return Json::object();
  Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return Json::object();
  json.erase("schema");
  return json;
}

std::string names_of(const std::vector<control::MemberEntry>& members) {
  std::vector<std::string> names;
  for (const auto& member : members) {
    if (names.size() == control::kNamesMax) break;
    names.push_back(printable(member.name));
  }
  std::string text = join(names, ", ");
  if (members.size() > names.size()) {
    text += " and " + std::to_string(members.size() - names.size()) + " more";
  }
  return text;
}

Json silent_json(const std::vector<control::MemberEntry>& silent) {
  Json names = Json::array();
  for (const auto& member : silent) names.push_back(member.name);
  return names;
}

ExitCode note_silent(const std::vector<control::MemberEntry>& silent,
                     const std::atomic<bool>& stop) {
  if (stop.load()) return ExitCode::kInterrupted;
  if (silent.empty()) return ExitCode::kDone;
  complain("no answer from " + names_of(silent) + "; is it stopped?");
  return ExitCode::kMembersMissing;
}

std::string rank_text(int rank) { return rank < 0 ? "-" : std::to_string(rank); }

}  // namespace livebtl::tool
