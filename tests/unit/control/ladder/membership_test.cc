// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/ladder/membership_test.cc -- one job or several, and who is missing.
#include "control/ladder/membership.h"

#include <doctest/doctest.h>

using namespace livebtl::control;

namespace {

bool one_job(const std::vector<Counted>& live) { return several_jobs("j", live).empty(); }

}  // namespace

TEST_CASE("the processes of one job are taken for one") {
  CHECK(one_job({}));
  CHECK(one_job({{"a", 0, 2}}));
  CHECK(one_job({{"a", 0, 2}, {"b", 1, 2}}));
  CHECK(one_job({{"a", -1, 2}, {"b", -1, 2}}));                            // started by hand
  CHECK(one_job({{"a", 0, 2}, {"b", 1, 2}, {"c", -1, 0}, {"d", -1, 0}}));  // two spawned
  CHECK(one_job({{"a", 0, 2}, {"", -1, 0}}));                              // one has not answered
  // Under one LIVEBTL_JOB, without a size: a server and its clients, alone or beside an mpirun's.
  CHECK(one_job({{"a", -1, 1}, {"b", -1, 1}, {"c", -1, 1}}));
  CHECK(one_job({{"s", -1, 1}, {"a", 0, 2}, {"b", 1, 2}}));
  CHECK(one_job({{"a", -1, 2}, {"b", -1, 2}, {"s", -1, 1}}));
}

TEST_CASE("those of two jobs are not, and what shows it is named") {
  struct Case {
    std::vector<Counted> live;
    std::string sign;
  };
  for (const Case& each :
       {Case{{{"a", 0, 2}, {"b", 0, 2}}, "rank 0 is there twice, as a and as b"},
        Case{{{"a", 0, 1}, {"b", 0, 1}}, "rank 0 is there twice, as a and as b"},
        Case{{{"a", 0, 2}, {"b", 1, 3}}, "a was started as one of 2, b as one of 3"},
        Case{{{"a", 0, 1}, {"b", 1, 2}}, "a was started as one of 1, b as one of 2"},
        Case{{{"a", -1, 2}, {"b", -1, 2}, {"c", -1, 2}}, "3 processes were each started as one of"},
        Case{{{"s", -1, 0}, {"a", -1, 4}, {"t", -1, 1}, {"b", -1, 2}}, "b as one of 2"}}) {
    const std::string text = several_jobs("j", each.live);
    CHECK(text.find(each.sign) != std::string::npos);
    CHECK(text.find("the name j") != std::string::npos);
    CHECK(text.find("LIVEBTL_JOB") != std::string::npos);
    const bool by_size = each.sign.find("one of") != std::string::npos;
    CHECK((text.find("LIVEBTL_SIZE") != std::string::npos) == by_size);
  }
}

TEST_CASE("who was announced and is neither there nor gone is missing") {
  const auto none = missing_members({{"a", 0, 3}, {"b", 2, 3}}, {1}, 1);
  CHECK(none.count == 0);
  CHECK(none.ranks.empty());
  const auto two = missing_members({{"a", 0, 4}}, {2}, 1);
  CHECK(two.count == 2);
  CHECK(two.announced == 4);
  CHECK(two.ranks == std::vector<int>{1, 3});
  const auto spawned = missing_members({{"a", 0, 3}, {"s", -1, 0}, {"t", 1, 0}}, {}, 0);
  CHECK(spawned.count == 2);
  CHECK(spawned.ranks == std::vector<int>{1, 2});
  const auto silent = missing_members({{"a", 0, 3}, {"b", 1, 0, false}}, {}, 0);
  CHECK(silent.count == 1);
  CHECK(silent.ranks == std::vector<int>{2});
  CHECK(missing_members({{"s", -1, 1}, {"a", 0, 2}}, {}, 0).count == 1);  // a server beside it
  CHECK(missing_members({{"s", -1, 1}}, {}, 0).count == 0);
  const auto unknown = missing_members({{"a", -1, 3}}, {}, 0);  // by hand: no ranks
  CHECK(unknown.count == 2);
  CHECK(unknown.ranks.empty());
  CHECK(missing_members({}, {}, 0).count == 0);
  CHECK(missing_members({{"a", 0, 1u << 20}}, {}, 0).ranks.size() == 1024);
}
