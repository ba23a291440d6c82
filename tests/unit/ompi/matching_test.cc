// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ompi/matching_test.cc -- what a receive matches and what it does not, by the engine's
// rule: the bits that are not ignored are equal.
#include "ompi/matching.h"

#include <doctest/doctest.h>

#include <climits>

namespace livebtl::ompi {
namespace {

bool matches(Tag receive, Tag ignore, Tag sent) { return ((receive ^ sent) & ~ignore) == 0; }

TEST_CASE("tags come back as they were, negative ones too") {
  for (const int tag : {0, 1, 32767, INT_MAX, -1, -27, INT_MIN}) {
    CHECK(mpi_tag_of(tag_of(0, tag)) == tag);
    CHECK(mpi_tag_of(tag_of(kContextMax, tag)) == tag);
  }
}

TEST_CASE("any tag matches each that a program may use, and none of Open MPI's own") {
  const Tag any = tag_of(7, 0);
  for (const int tag : {0, 1, 4711, INT_MAX}) CHECK(matches(any, kAnyUserTag, tag_of(7, tag)));
  for (const int tag : {-1, -27, -31078, INT_MIN})
    CHECK_FALSE(matches(any, kAnyUserTag, tag_of(7, tag)));
}

TEST_CASE("a communicator's messages are its own") {
  const Tag any = tag_of(7, 0);
  for (const std::uint32_t other : {0u, 6u, 8u, kContextMax})
    CHECK_FALSE(matches(any, kAnyUserTag, tag_of(other, 3)));
}

TEST_CASE("what is left of a communicator is all of it, and no more") {
  const Tag all = tag_of(7, 0);
  for (const int tag : {0, INT_MAX, -1, INT_MIN}) {
    CHECK(matches(all, kWholeContext, tag_of(7, tag)));
    CHECK_FALSE(matches(all, kWholeContext, tag_of(8, tag)));
  }
}

}  // namespace
}  // namespace livebtl::ompi
