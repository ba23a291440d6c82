// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/table.h -- columns for people: as wide as needed, numbers flush right, two spaces
// between.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ctl-tool/screen.h"

namespace livebtl::tool {

class Table {
 public:
  /// A title that ends in '>' aligns its column to the right.
  explicit Table(std::vector<std::string> titles) : titles_(std::move(titles)) {}
  void add(std::vector<std::string> row, Tone tone = Tone::kPlain) {
    rows_.push_back({std::move(row), tone});
  }
  bool empty() const noexcept { return rows_.empty(); }
  /// Lines are cut to the screen's width, and rows painted.
  std::string text(const Screen& screen) const;

 private:
  std::vector<std::string> titles_;
  struct Row {
    std::vector<std::string> cells;
    Tone tone = Tone::kPlain;
  };
  std::vector<Row> rows_;
};

/// The width on a terminal: combining marks take no column, East Asian wide characters two. Bytes
/// that are not UTF-8 count one each.
std::size_t columns_of(std::string_view text);

/// 1.5 GiB, 12 B.
std::string human_bytes(std::uint64_t bytes);
/// "1 member", "2 members".
std::string counted(std::uint64_t count, const std::string& one, const std::string& many);
/// Without control characters: what comes from others must not move the cursor.
std::string printable(const std::string& text);
/// The same, but line breaks stay.
std::string printable_lines(const std::string& text);
std::string join(const std::vector<std::string>& parts, const std::string& between);

}  // namespace livebtl::tool
