// SPDX-License-Identifier: BSD-3-Clause
// Where a payload lies that a queue pair lends: it comes back, and what makes no sense is refused.
#include <doctest/doctest.h>

#include <cstring>

#include "transports/verbs/verbs_frame.h"

using namespace livebtl;
using namespace livebtl::verbs;

TEST_CASE("where a payload lies comes back") {
  const Lent lent{0x7f00deadbeef, 77, kLentBytesMax, 1, 0x12345678};
  const auto back = decode_lent(bytes_of(lent));
  REQUIRE(back.has_value());
  CHECK(std::memcmp(&*back, &lent, sizeof lent) == 0);
}

TEST_CASE("a payload that is lent in a way that makes no sense is refused") {
  for (const Lent& bad :
       {Lent{1, 1, kLentBytesMin - 1, 0, 0}, Lent{1, 1, kLentBytesMax + 1, 0, 0},
        Lent{1, 1, 0, 0, 0}, Lent{1, 1, kLentBytesMin, 2, 0}, Lent{1, 1, kLentBytesMin, 0, 5}})
    CHECK(!decode_lent(bytes_of(bad)));
  const Lent good{1, 1, kLentBytesMin, 0, 0};
  CHECK(decode_lent(bytes_of(good)));
  CHECK(!decode_lent(bytes_of(good).first(sizeof good - 1)));
}
