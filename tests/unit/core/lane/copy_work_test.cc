// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/lane/copy_work_test.cc -- core/lane/copy_work.h: what is known, and what is not.
#include "core/lane/copy_work.h"

#include <doctest/doctest.h>

namespace livebtl::core {

using Part = CopyWork::Part;

TEST_CASE("nothing is said before all three copies were timed") {
  CopyWork work;
  CHECK(!work.exposing_is_less());
  work.took(Part::kIn, 1 << 20, 100);
  work.took(Part::kOut, 1 << 20, 100);
  CHECK(!work.exposing_is_less());
  work.took(Part::kRead, 1 << 20, 199);
  CHECK(work.exposing_is_less() == true);
}

TEST_CASE("a read is compared with both copies, by byte") {
  CopyWork work;
  work.took(Part::kIn, 16 << 10, 1000);
  work.took(Part::kOut, 16 << 10, 1000);
  work.took(Part::kRead, 1 << 20, 2000 * 64 + 64);
  CHECK(work.exposing_is_less() == false);
  for (int i = 0; i < 20; ++i) work.took(Part::kRead, 1 << 20, 1900 * 64);
  CHECK(work.exposing_is_less() == true);
}

TEST_CASE("an interrupted copy does not decide; a clock that stood still is no harm") {
  CopyWork work;
  work.took(Part::kIn, 1 << 20, 100);
  work.took(Part::kOut, 1 << 20, 100);
  work.took(Part::kRead, 1 << 20, 150);
  work.took(Part::kRead, 1 << 20, kSecond);
  CHECK(work.exposing_is_less() == true);
  work.took(Part::kRead, 1 << 20, 0);
  work.took(Part::kRead, 1 << 20, -5);
  CHECK(work.exposing_is_less() == true);
}

TEST_CASE("of small copies none is timed, of the others one in four") {
  CopyWork work;
  int timed = 0;
  for (int i = 0; i < 400; ++i) {
    CHECK(!work.timed(Part::kIn, CopyWork::kTimedBytesMin - 1));
    timed += work.timed(Part::kOut, CopyWork::kTimedBytesMin) ? 1 : 0;
    static_cast<void>(work.timed(Part::kRead, CopyWork::kTimedBytesMin));
  }
  CHECK(timed == 100);
}

}  // namespace livebtl::core
