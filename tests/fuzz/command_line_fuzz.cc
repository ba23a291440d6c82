// SPDX-License-Identifier: BSD-3-Clause
// btlctl's command line from hostile text: one argument a line. What is accepted must be whole;
// anything else must end with the documented code and a hint. The same lines are completed, as for
// a shell.
#include "ctl-tool/command_line.h"

#include <algorithm>

#include "ctl-tool/complete.h"
#include "tests/fuzz/lines.h"
#include "tests/fuzz/reached.h"

namespace {

using namespace livebtl;
using namespace livebtl::tool;

void check(const CommandLine& line) {
  fuzz::must_hold(line.definition != nullptr || !line.generate.empty(), "there is something to do");
  fuzz::must_hold(line.timeout_for_change() > 0 && line.timeout_for_look() > 0,
                  "times are positive");
  fuzz::must_hold(line.timeout_for_change() <= 86'400 * kSecond, "times are bounded");
  fuzz::must_hold(line.job.size() <= 256 && line.arguments.size() <= 5, "sizes are bounded");
  fuzz::must_hold(line.command != "switch" || line.arguments.size() == 2,
                  "switch has two arguments");
  for (const auto& argument : line.arguments)
    fuzz::must_hold(!argument.empty() && argument.size() <= 256, "arguments are bounded");
}

Seen nothing_there(const std::string&, const std::string&) { return {}; }

/// What is offered begins with what was typed, and is printed on its own line.
void check_completion(const std::vector<std::string>& words) {
  const std::string typed = words.empty() ? "" : words.back();
  const Completion completion = complete(words, nothing_there);
  for (const Candidate& each : completion.candidates)
    fuzz::must_hold(each.word.starts_with(typed), "a candidate begins with what was typed");
  const std::string text = completion_text(completion);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const bool also = completion.also != Completion::Also::kNothing;
  fuzz::must_hold(lines == completion.candidates.size() + (also ? 1 : 0), "a line a candidate");
  complete_run(words);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto words = fuzz::lines_of({reinterpret_cast<const char*>(data), size});
  check_completion(words);
  const auto parsed = parse_command_line(words, "");
  const auto* line = std::get_if<CommandLine>(&parsed);
  if (line != nullptr) {
    check(*line);
  } else {
    const auto& end = std::get<EndNow>(parsed);
    fuzz::must_hold((end.exit_code == ExitCode::kDone || end.exit_code == ExitCode::kUsage) &&
                        !end.text.empty(),
                    "an end has a text, and code 0 or 1");
  }
  fuzz::Reached::note(line != nullptr);
  return 0;
}
