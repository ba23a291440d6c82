// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ompi/version_text_test.cc -- the version of the running Open MPI, read from what it
// says of itself.
#include "ompi/version_text.h"

#include <doctest/doctest.h>

namespace livebtl::ompi {
namespace {

TEST_CASE("Open MPI's own words") {
  CHECK(version_in("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4") ==
        Version{4, 1, 4});
  CHECK(version_in("Open MPI v5.0.0rc12, package: x") == Version{5, 0, 0});
  CHECK(version_in("Open MPI v10.20.30") == Version{10, 20, 30});
}

TEST_CASE("anything else is no version") {
  for (const char* text : {"", "Open MPI v", "Open MPI v4", "Open MPI v4.1", "Open MPI v4.1.",
                           "Open MPI v4-1-4", "MPICH Version: 4.0.2", "Open MPI vx.y.z"}) {
    CHECK(version_in(text) == Version{});
  }
}

TEST_CASE("in words") {
  CHECK(text_of({4, 1, 4}) == "4.1.4");
  CHECK(text_of({}) == "of an unknown version");
}

}  // namespace
}  // namespace livebtl::ompi
