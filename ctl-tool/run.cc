// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/run.cc -- from the command line to the function that does it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "ctl-tool/commands.h"
#include "ctl-tool/generate.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {

namespace {

int end_now(const EndNow& end, bool wants_json) {
  std::fputs(end.text.c_str(), end.exit_code == 0 ? stdout : stderr);
  if (end.exit_code != 0 && wants_json) {
    print(control::outcome_json(plain_outcome({}, end.exit_code, end.text)) + "\n");
  }
  return end.exit_code;
}

/// Commands with a function of their own; all others are ladders.
struct OwnCommand {
  const char* verb;
  int (*run)(const CommandLine&, const std::atomic<bool>&);
};
constexpr OwnCommand kOwnCommands[] = {{"jobs", show_jobs},     {"list", show_list},
                                       {"status", show_status}, {"secret", write_secret},
                                       {"hold", run_hold},      {"job", run_hold},
                                       {"watch", watch},        {"checkpoint", run_checkpoint},
                                       {"vm", run_vm},          {"hooks", run_hooks}};

/// true: that was all.
bool generated(const std::string& what) {
  if (what == "man") print(manual_page());
  if (what == "settings-man") print(settings_page());
  if (what == "completion") print(completion());
  return !what.empty();
}

}  // namespace

int run(std::vector<std::string> arguments, const std::atomic<bool>& stop) {
  // Also of a command line that cannot be read, programs want a document.
  const bool wants_json =
      std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  const char* job = std::getenv("LIVEBTL_JOB");
  const auto parsed = parse_command_line(std::move(arguments), job != nullptr ? job : "");
  if (const auto* end = std::get_if<EndNow>(&parsed)) return end_now(*end, wants_json);
  const auto& line = std::get<CommandLine>(parsed);
  if (generated(line.generate)) return 0;
  for (const OwnCommand& each : kOwnCommands) {
    if (line.verb == each.verb) return each.run(line, stop);
  }
  return line.verb == "settings" ? show_settings(line) : run_ladder(line, stop);
}

}  // namespace livebtl::tool
