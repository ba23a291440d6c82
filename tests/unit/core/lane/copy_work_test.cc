// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/lane/copy_work_test.cc -- core/lane/copy_work.h: what is known, and what is not.
#include "core/lane/copy_work.h"

#include <doctest/doctest.h>

namespace livebtl::core {

using Part = CopyWork::Part;

TEST_CASE("nothing is said before all three copies were timed") {
  CopyWork work;
  CHECK(!work.exposing_is_less());
  work.copied(Part::kIn, 1 << 20, 100);
  work.copied(Part::kOut, 1 << 20, 100);
  CHECK(!work.exposing_is_less());
  work.copied(Part::kRead, 1 << 20, 199);
  CHECK(work.exposing_is_less() == true);
}

TEST_CASE("a read is compared with both copies, by byte") {
  CopyWork work;
  work.copied(Part::kIn, 16 << 10, 1000);
  work.copied(Part::kOut, 16 << 10, 1000);
  work.copied(Part::kRead, 1 << 20, 2000 * 64 + 64);
  CHECK(work.exposing_is_less() == false);
  for (int i = 0; i < 20; ++i) work.copied(Part::kRead, 1 << 20, 1900 * 64);
  CHECK(work.exposing_is_less() == true);
}

TEST_CASE(
    "an interrupted copy does not decide, even if it is the first; a clock that stood still is no "
    "harm") {
  CopyWork work;
  work.copied(Part::kIn, 1 << 20, 100);
  work.copied(Part::kOut, 1 << 20, 100);
  work.copied(Part::kRead, 1 << 20, kSecond);
  CHECK(work.exposing_is_less() == false);
  work.copied(Part::kRead, 1 << 20, 150);
  CHECK(work.exposing_is_less() == true);
  work.copied(Part::kRead, 1 << 20, kSecond);
  CHECK(work.exposing_is_less() == true);
  for (const Part part : {Part::kIn, Part::kOut, Part::kRead}) {
    work.copied(part, 1 << 20, 0);
    work.copied(part, 1 << 20, -5);
  }
  CHECK(work.exposing_is_less() == true);
}

TEST_CASE("what has become slower is seen in a while") {
  CopyWork work;
  work.copied(Part::kIn, 1 << 20, 100);
  work.copied(Part::kOut, 1 << 20, 100);
  for (int i = 0; i < 30; ++i) work.copied(Part::kRead, 1 << 20, i < 5 ? 150 : 300);
  CHECK(work.exposing_is_less() == false);
}

TEST_CASE("of each kind of copy one in five is timed, and small ones are not") {
  CopyWork work;
  int timed = 0;
  for (int i = 0; i < 500; ++i) {
    CHECK(!work.due(Part::kIn, CopyWork::kTimedBytesMin - 1));
    const bool due = work.due(Part::kOut, CopyWork::kTimedBytesMin);
    timed += due ? 1 : 0;
    CHECK(due == work.due(Part::kOut,
                          CopyWork::kTimedBytesMin));  // a copy that was not made does not count
    work.copied(Part::kOut, CopyWork::kTimedBytesMin, std::nullopt);
    if (i % 2 == 0) work.copied(Part::kRead, CopyWork::kTimedBytesMin, std::nullopt);
  }
  CHECK(timed == 100);
  CHECK(!work.exposing_is_less());
}

}  // namespace livebtl::core
