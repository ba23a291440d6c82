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

control::Outcome plain_outcome(const CommandLine& line, int code, std::string text) {
  control::Outcome outcome;
  outcome.code = static_cast<ExitCode>(code);
  outcome.verb = line.verb;
  outcome.arguments = line.arguments;
  outcome.text = std::move(text);
  return outcome;
}

int fail_early(const CommandLine& line, const NoJob& why) {
  complain(why.text);
  if (line.json) {
    const auto outcome = plain_outcome(line, static_cast<int>(why.code), why.text);
    print(control::outcome_json(outcome) + "\n");
  }
  return static_cast<int>(why.code);
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

int note_silent(const std::vector<control::MemberEntry>& silent, const std::atomic<bool>& stop) {
  if (stop.load()) return kInterrupted;
  if (silent.empty()) return 0;
  complain("no answer from " + names_of(silent) + "; is it stopped?");
  return static_cast<int>(ExitCode::kMembersMissing);
}

std::string rank_text(int rank) { return rank < 0 ? "-" : std::to_string(rank); }

}  // namespace livebtl::tool
