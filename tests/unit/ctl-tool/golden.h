// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/golden.h -- what the program answers, compared with a file in golden/: "$ LINE"
// and what came of it. LIVEBTL_WRITE_GOLDEN=1 writes the file anew, for a look at what changed.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace livebtl::test {

/// answer: of the words of one line; ends with a line feed.
inline void check_golden(
    const std::string& path,
    const std::function<std::string(const std::vector<std::string>&)>& answer) {
  std::ifstream file(path);
  std::ostringstream expected, made;
  for (std::string line; std::getline(file, line);) {
    expected << line << "\n";
    if (line.starts_with("#")) made << line << "\n";
    if (!line.starts_with("$")) continue;
    std::istringstream text(line.substr(1));
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    made << line << "\n" << answer(words);
  }
  REQUIRE_FALSE(made.str().empty());
  if (std::getenv("LIVEBTL_WRITE_GOLDEN") != nullptr) std::ofstream(path) << made.str();
  CHECK(made.str() == expected.str());
}

}  // namespace livebtl::test
