// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/manual_test.cc -- the manual matches the program: each command has a page
// whose synopsis is the parser's, and each placeholder in a page can be filled in.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/settings.h"
#include "ctl-tool/command.h"
#include "ctl-tool/generate.h"

using namespace livebtl;
using namespace livebtl::tool;

namespace {

const std::string kManual = LIVEBTL_SOURCE_DIR "/docs/man/";

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The paragraphs of SYNOPSIS, without fonts.
std::vector<std::string> synopses_in(const std::string& page) {
  std::string text = page.substr(page.find("# SYNOPSIS\n\n") + 12);
  text = text.substr(0, text.find("\n# "));
  std::erase_if(text, [](char c) { return c == '*' || c == '_' || c == '\\'; });
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", at), text.size());
    std::string line = text.substr(at, end - at);
    std::replace(line.begin(), line.end(), '\n', ' ');
    if (line.ends_with(' ')) line.pop_back();
    for (const char* program : {"btlctl ", "livebtl-run ", "btlperf "}) {
      if (line.starts_with(program)) lines.push_back(line);
    }
    at = end + 2;
  }
  return lines;
}

}  // namespace

TEST_CASE("each command has a page, with the synopsis that the parser has") {
  for (const Command* command : kCommands) {
    const std::string name = command->name;
    const std::string page = text_of(kManual + "btlctl-" + name + ".1.scd");
    INFO(name);
    CHECK(synopses_in(page) == synopses_of(name));
    CHECK(page.starts_with("btlctl-" + name + "(1) "));
  }
  CHECK(synopses_in(text_of(kManual + "livebtl-run.1.scd")) == synopses_of("livebtl-run"));
  CHECK(synopses_in(text_of(kManual + "btlperf.1.scd")) == synopses_of("btlperf"));
  CHECK(synopses_of("no such command").empty());
}

TEST_CASE("a page of each command shows the options of each of its actions") {
  for (const Command* command : kCommands) {
    const std::string page = text_of(kManual + "btlctl-" + command->name + ".1.scd");
    INFO(command->name);
    if (command->actions.empty())
      CHECK(page.find("@OPTIONS " + std::string(command->name) + "@") != std::string::npos);
    for (const Command* action : command->actions)
      CHECK(page.find("@OPTIONS " + std::string(command->name) + " " + action->name + "@") !=
            std::string::npos);
  }
}

TEST_CASE("every place in every page can be filled in, and what is none is an error") {
  std::size_t pages = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kManual)) {
    if (entry.path().extension() != ".scd") continue;
    INFO(entry.path().string());
    const auto page = filled_page(text_of(entry.path()));
    REQUIRE(page.has_value());
    CHECK(page->find('@') == std::string::npos);
    CHECK(page->find(LIVEBTL_VERSION) != std::string::npos);
    ++pages;
  }
  CHECK(pages > std::size(kCommands));
  CHECK_FALSE(filled_page("@OPTIONS no such command@").has_value());
  CHECK_FALSE(filled_page("x @NONSENSE@").has_value());
  CHECK(filled_page("one @ alone").value() == "one @ alone");
  CHECK(filled_page("").value().empty());
}

TEST_CASE("options, commands and exit codes come from the program") {
  const std::string page =
      filled_page("@OPTIONS@@COMMANDS@@EXIT_CODES@@OPTIONS hold start@").value();
  for (const char* part : {"*-o*, *--output* _FORM_", "*--json*", "*btlctl-doctor*(1)",
                           "*--lease* _SECONDS_", "Default: 60.", "*130* _interrupted_"})
    CHECK_MESSAGE(page.find(part) != std::string::npos, part);
  for (const auto& entry : kExitCodes)
    CHECK(page.find("_" + std::string(entry.reason) + "_") != std::string::npos);
}

TEST_CASE("reasons are words of their own, one a code") {
  for (const auto& one : kExitCodes) {
    CHECK(reason_of(one.code) == std::string(one.reason));
    for (const auto& other : kExitCodes)
      CHECK((&one == &other || std::string(one.reason) != other.reason));
  }
  CHECK(std::string(reason_of(static_cast<ExitCode>(77))).empty());
}

TEST_CASE("the committed page of settings is what the program makes, and has every setting") {
  CHECK(settings_page() == text_of(kManual + "livebtl-settings.7"));
  for (const auto& setting : setting_table())
    CHECK(settings_page().find("LIVEBTL_" + std::string(setting.name)) != std::string::npos);
}
