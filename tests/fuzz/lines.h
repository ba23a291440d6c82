// SPDX-License-Identifier: BSD-3-Clause
// A fuzzer's input as text, split: its lines, and NAME=VALUE lines as an environment.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace livebtl::fuzz {

inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    lines.emplace_back(line);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return lines;
}

using Variables = std::map<std::string, std::string, std::less<>>;

/// The first of two lines with one name counts; a line without '=' is skipped.
inline Variables variables_of(std::string_view text) {
  Variables variables;
  for (const std::string& line : lines_of(text)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    variables.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return variables;
}

}  // namespace livebtl::fuzz
