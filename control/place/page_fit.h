// SPDX-License-Identifier: BSD-3-Clause
// control/place/page_fit.h -- checks of a page's contents, one value at a time: internal to the
// reader. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/engine/engine_page.h"

namespace livebtl::control {

inline constexpr std::int64_t kPageTimeMax = std::int64_t{1} << 60;

/// Keeps the first thing that does not fit, and ignores later ones.
class Fit {
 public:
  void must(bool holds, const char* what) {
    if (!holds && wrong_.empty()) wrong_ = what;
  }
  bool flag(std::uint8_t value) {
    must(value <= 1, "a flag is neither 0 nor 1");
    return value == 1;
  }
  template <class Enum>
  Enum one_of(std::uint8_t value, Enum last, const char* what) {
    must(value <= static_cast<std::uint8_t>(last), what);
    return value <= static_cast<std::uint8_t>(last) ? static_cast<Enum>(value) : last;
  }
  std::int64_t time(std::int64_t value) {
    const bool fits = value >= 0 && value <= kPageTimeMax;
    must(fits, "a time is out of range");
    return fits ? value : 0;
  }
  std::uint32_t count(std::uint32_t value, std::size_t most) {
    must(value <= most, "a list is longer than a page has room for");
    return value <= most ? value : 0;
  }
  const std::string& wrong() const noexcept { return wrong_; }

 private:
  std::string wrong_;
};

/// Valid UTF-8 without control characters, whatever is given.
std::string clean_text(std::string_view text);
template <std::size_t size>
std::string clean_text(const core::PageText<size>& text) {
  return clean_text(text.view());
}

}  // namespace livebtl::control
