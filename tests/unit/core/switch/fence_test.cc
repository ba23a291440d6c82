// SPDX-License-Identifier: BSD-3-Clause
#include "core/switch/fence.h"

#include <doctest/doctest.h>

using namespace livebtl;
using livebtl::core::Fence;
using Meeting = livebtl::core::Fence::Meeting;

TEST_CASE(
    "a process adopts the first incarnation that it meets, and is fenced out by a higher one") {
  Fence fence;
  CHECK(fence.meet(Incarnation{}) == Meeting::kSame);
  CHECK(fence.meet(Incarnation{7}) == Meeting::kAdopted);
  CHECK(fence.meet(Incarnation{7}) == Meeting::kSame);
  CHECK(fence.meet(Incarnation{6}) == Meeting::kOlder);
  CHECK_FALSE(fence.out());
  CHECK(fence.meet(Incarnation{8}) == Meeting::kFenced);
  CHECK(fence.out());
  fence.raise(Incarnation{9}, 1);
  CHECK_FALSE(fence.out());
}

TEST_CASE(
    "an incarnation that no restore can have given is neither adopted nor fences anybody out") {
  Fence fence;
  for (const Incarnation claimed : {Fence::kBelievedBelow, Incarnation{UINT32_MAX}}) {
    CHECK(fence.meet(claimed) == Meeting::kOlder);
    CHECK(fence.own() == Incarnation{});
  }
  REQUIRE(fence.settle(Incarnation{1}));
  for (const Incarnation claimed : {Fence::kBelievedBelow, Incarnation{UINT32_MAX}}) {
    CHECK(fence.meet(claimed) == Meeting::kOlder);
    CHECK_FALSE(fence.out());
  }
}
