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

}  // namespace

int run(std::vector<std::string> arguments, const std::atomic<bool>& stop) {
  // Also of a command line that cannot be read, programs want a document.
  const bool wants_json =
      std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  const char* job = std::getenv("LIVEBTL_JOB");
  const auto parsed = parse_command_line(std::move(arguments), job != nullptr ? job : "");
  if (const auto* end = std::get_if<EndNow>(&parsed)) return end_now(*end, wants_json);
  const auto& line = std::get<CommandLine>(parsed);
  if (line.generate == "man") {
    print(manual_page());
  } else if (line.generate == "settings-man") {
    print(settings_page());
  } else if (line.generate == "completion") {
    print(completion());
  } else if (line.verb == "jobs") {
    return show_jobs(line, stop);
  } else if (line.verb == "list") {
    return show_list(line, stop);
  } else if (line.verb == "status") {
    return show_status(line, stop);
  } else if (line.verb == "settings") {
    return show_settings(line);
  } else if (line.verb == "secret") {
    return write_secret(line, stop);
  } else if (line.verb == "watch") {
    return watch(line, stop);
  } else {
    return run_ladder(line, stop);
  }
  return 0;
}

}  // namespace livebtl::tool
