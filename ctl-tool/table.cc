// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/table.cc -- see table.h.
#include "ctl-tool/table.h"

#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cwchar>
#include <string_view>

#include "base/text.h"

namespace livebtl::tool {
namespace {

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::size_t columns = columns_of(text);
  const std::string space(width > columns ? width - columns : 0, ' ');
  return right ? space + text : text + space;
}

/// How many bytes the text's first character has, if it is UTF-8; else 0.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return bytes;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  // The text is UTF-8, even if the user's locale is not.
  static const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  const locale_t before = utf8 != nullptr ? ::uselocale(utf8) : nullptr;
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    wchar_t character = 0;
    std::mbstate_t state{};
    const std::size_t bytes = std::mbrtowc(&character, text.data() + at, text.size() - at, &state);
    const bool valid = bytes != 0 && bytes <= text.size() - at;
    const int width = valid ? ::wcwidth(character) : 1;
    columns += static_cast<std::size_t>(std::max(width, 0));
    at += valid ? bytes : 1;
  }
  if (before != nullptr) ::uselocale(before);
  return columns;
}

std::string Table::text(const Screen& screen) const {
  std::vector<std::string> titles = titles_;
  std::vector<bool> right;
  std::vector<std::size_t> widths;
  for (std::string& title : titles) {
    right.push_back(!title.empty() && title.back() == '>');
    if (right.back()) title.pop_back();
    widths.push_back(columns_of(title));
  }
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      widths[i] = std::max(widths[i], columns_of(row.cells[i]));
  }
  std::string out;
  const auto add_line = [&](const std::vector<std::string>& cells, Tone tone) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += "  ";
      line += padded(cells[i], widths[i], right[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += screen.painted(cut_to(line, screen.columns), tone) + "\n";
  };
  add_line(titles, Tone::kPlain);
  for (const auto& row : rows_) add_line(row.cells, row.tone);
  return out;
}

std::string human_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024.0;
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", value, kUnits[unit]);
  return text.data();
}

std::string counted(std::uint64_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string printable(const std::string& text) {
  std::string clean;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    const std::size_t harmful = control_bytes(rest);
    const std::size_t bytes = character_bytes(rest);
    clean += harmful > 0 || bytes == 0 ? "?" : rest.substr(0, bytes);
    at += std::max<std::size_t>({harmful, bytes, 1});
  }
  return clean;
}

std::string printable_lines(const std::string& text) {
  std::string clean;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    clean += printable(text.substr(at, end - at));
    if (end < text.size()) clean += '\n';
    at = end + 1;
  }
  return clean;
}

std::string join(const std::vector<std::string>& parts, const std::string& between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

}  // namespace livebtl::tool
