// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/say_test.cc -- how an outcome is described to people.
#include "ctl-tool/say.h"

#include <doctest/doctest.h>

using namespace livebtl::tool;

using Pairs = std::vector<std::string>;

TEST_CASE("a pair that both of its ends have told of is named once") {
  const Pairs told = {"rank 0 on n1 - rank 2 on n2 (aa)", "rank 0 on n1 - rank 3 on n2 (bb)",
                      "rank 2 on n2 - rank 0 on n1 (cc)", "rank 2 on n2 - rank 3 on n2 (bb)",
                      "rank 3 on n2 - rank 0 on n1 (cc)"};
  CHECK(each_pair_once(told) == Pairs{told[0], told[1], told[3]});
}

TEST_CASE("pairs that are like each other only in part are named all") {
  const Pairs told = {"rank 1 on n1 - rank 12 on n2 (aa)", "rank 1 on n2 - rank 1 on n1 (bb)",
                      "rank 12 on n2 - rank 11 on n1 (cc)", "rank 9", "rank 9 - rank 8"};
  CHECK(each_pair_once(told) == told);
  CHECK(each_pair_once({}).empty());
}
