// SPDX-License-Identifier: BSD-3-Clause
// ompi/version_text.cc -- see version_text.h.
#include "ompi/version_text.h"

#include <charconv>

namespace livebtl::ompi {

Version version_in(std::string_view library_version) noexcept {
  constexpr std::string_view kBegin = "Open MPI v";
  if (!library_version.starts_with(kBegin)) return {};
  const char* at = library_version.data() + kBegin.size();
  const char* const end = library_version.data() + library_version.size();
  int numbers[3] = {};
  for (int i = 0; i < 3; ++i) {
    if (i > 0) {
      if (at == end || *at != '.') return {};
      ++at;
    }
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc{}) return {};
    at = next;
  }
  return {numbers[0], numbers[1], numbers[2]};
}

std::string text_of(const Version& version) {
  if (version == Version{}) return "of an unknown version";
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.release);
}

}  // namespace livebtl::ompi
