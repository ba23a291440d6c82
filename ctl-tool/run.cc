// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/run.cc -- from the command line to the function that does it.
#include <cstdio>
#include <cstdlib>

#include "ctl-tool/commands.h"
#include "ctl-tool/generate.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {

int run(std::vector<std::string> arguments, const std::atomic<bool>& stop) {
  const char* job = std::getenv("LIVEBTL_JOB");
  const auto parsed = parse_command_line(std::move(arguments), job != nullptr ? job : "");
  if (const auto* end = std::get_if<EndNow>(&parsed)) {
    std::fputs(end->text.c_str(), end->exit_code == 0 ? stdout : stderr);
    return end->exit_code;
  }
  const auto& line = std::get<CommandLine>(parsed);
  if (line.generate == "man") {
    print(manual_page());
  } else if (line.generate == "settings-man") {
    print(settings_page());
  } else if (line.generate == "completion") {
    print(completion());
  } else if (line.verb == "jobs") {
    return show_jobs(line);
  } else if (line.verb == "list") {
    return show_list(line, stop);
  } else if (line.verb == "status") {
    return show_status(line, stop);
  } else if (line.verb == "settings") {
    return show_settings(line);
  } else if (line.verb == "watch") {
    return watch(line, stop);
  } else {
    return run_ladder(line, stop);
  }
  return 0;
}

}  // namespace livebtl::tool
