// SPDX-License-Identifier: BSD-3-Clause
// launch/line_words.cc -- see line_words.h.
#include "launch/line_words.h"

#include <algorithm>
#include <array>

namespace livebtl::launch {
namespace {

bool is_mca_word(std::string_view word) noexcept {
  return word == "--mca" || word == "-mca" || word == "--gmca" || word == "-gmca" ||
         word == "--omca";
}

/// Hydra takes each of its options with one dash or two.
bool is_hydra_word(std::string_view word, std::string_view option) noexcept {
  if (word.starts_with("--")) word.remove_prefix(1);
  return word == option;
}

}  // namespace

std::optional<std::string> mca_in_line(const std::vector<std::string>& words,
                                       std::string_view name) {
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (is_mca_word(words[i]) && words[i + 1] == name) return words[i + 2];
  }
  return std::nullopt;
}

std::optional<std::string> variable_in_line(const std::vector<std::string>& words,
                                            std::string_view name) {
  std::optional<std::string> found;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string_view next = words[i + 1];
    if (words[i] == "-x" && next.starts_with(name) && next.substr(name.size()).starts_with('='))
      found = std::string(next.substr(name.size() + 1));
    const bool hydra = is_hydra_word(words[i], "-genv") || is_hydra_word(words[i], "-env");
    if (hydra && next == name && i + 2 < words.size()) found = words[i + 2];
  }
  return found;
}

std::string withholding_word(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 4> kOptions{"-genvnone", "-envnone", "-genvlist",
                                                     "-envlist"};
  for (const std::string& word : words) {
    const auto is_it = [&](std::string_view option) { return is_hydra_word(word, option); };
    if (std::any_of(kOptions.begin(), kOptions.end(), is_it)) return word;
  }
  return "";
}

std::optional<std::string> srun_export(const std::vector<std::string>& words) {
  constexpr std::string_view kOption = "--export";
  std::optional<std::string> found;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == kOption && i + 1 < words.size()) found = words[i + 1];
    if (word.starts_with(kOption) && word.substr(kOption.size()).starts_with('='))
      found = std::string(word.substr(kOption.size() + 1));
  }
  return found;
}

bool exports_all(std::string_view value) {
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    if (value.substr(0, comma) == "ALL") return true;
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
  return false;
}

}  // namespace livebtl::launch
