// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/golden_lines_test.cc -- which command lines are understood, and the exact
// words about those that are not.
#include "ctl-tool/command_line.h"
#include "golden.h"

using namespace livebtl::tool;

TEST_CASE("each line is understood or refused as golden/lines.txt has it") {
  const auto answer = [](const std::vector<std::string>& words) -> std::string {
    const auto parsed = parse_command_line(words, "");
    if (const auto* end = std::get_if<EndNow>(&parsed)) {
      return std::to_string(static_cast<int>(end->exit_code)) + " " +
             end->text.substr(0, end->text.find('\n')) + "\n";
    }
    const auto& line = std::get<CommandLine>(parsed);
    std::string text = "ok " + line.command;
    for (const std::string& argument : line.arguments) text += " " + argument;
    return text + "\n";
  };
  livebtl::test::check_golden(LIVEBTL_SOURCE_DIR "/tests/unit/ctl-tool/golden/lines.txt", answer);
}
