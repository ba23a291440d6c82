// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/run.cc -- see run.h.
#include "ctl-tool/run.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "ctl-tool/command.h"
#include "ctl-tool/generate.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

ExitCode end_now(const EndNow& end, bool wants_json) {
  std::fputs(end.text.c_str(), end.exit_code == ExitCode::kDone ? stdout : stderr);
  if (end.exit_code != ExitCode::kDone && wants_json)
    print(control::outcome_json(plain_outcome({}, end.exit_code, end.text)) + "\n");
  return end.exit_code;
}

std::string generated(const std::string& what) {
  if (what == "man") return manual_page();
  return what == "completion" ? completion() : settings_page();
}

}  // namespace

ExitCode run(std::vector<std::string> arguments, const std::atomic<bool>& stop) {
  // Programs want a document even if their command line cannot be read.
  const bool wants_json =
      std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  const char* job = std::getenv("LIVEBTL_JOB");
  const auto parsed = parse_command_line(std::move(arguments), job != nullptr ? job : "");
  if (const auto* end = std::get_if<EndNow>(&parsed)) return end_now(*end, wants_json);
  const auto& line = std::get<CommandLine>(parsed);
  if (line.generate.empty()) return line.definition->run(line, stop);
  print(generated(line.generate));
  return ExitCode::kDone;
}

}  // namespace livebtl::tool
