// SPDX-License-Identifier: BSD-3-Clause
// Edit distance against known values, and which slips lead to a suggestion.
#include "base/nearest.h"

#include <doctest/doctest.h>

#include <array>

using namespace livebtl;

TEST_CASE("edit distance counts insertions, deletions and replacements") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("window", "windows") == 1);
  CHECK(edit_distance("flaw", "lawn") == 2);
}

TEST_CASE("the nearest name is suggested, and nothing if none is near") {
  const std::array<std::string_view, 3> names{"switch", "status", "remove"};
  CHECK(nearest("swich", names) == "switch");
  CHECK(nearest("statsu", names) == "status");
  CHECK_FALSE(nearest("checkpoint", names));
  CHECK_FALSE(nearest("", names));
  CHECK_FALSE(nearest("x", {}));
}
