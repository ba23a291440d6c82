// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/golden.h -- compares the program's answers with a file in golden/: "$ LINE",
// then the answer. LIVEBTL_WRITE_GOLDEN=1 writes the file anew, to show what changed.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace livebtl::test {

/// answer: what the program answers to the words of one line; ends with a line feed.
inline void check_golden(
    const std::string& path,
    const std::function<std::string(const std::vector<std::string>&)>& answer) {
  std::ifstream file(path);
  std::string made;
  for (std::string line, expected; std::getline(file, line);) {
    made += line + "\n";
    if (!line.starts_with("$")) continue;
    std::istringstream text(line.substr(1));
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    const std::string answered = answer(words);
    std::getline(file, expected);
    INFO(line);
    CHECK(answered == expected + "\n");
    made += answered;
  }
  REQUIRE_FALSE(made.empty());
  if (std::getenv("LIVEBTL_WRITE_GOLDEN") != nullptr) std::ofstream(path) << made;
}

}  // namespace livebtl::test
