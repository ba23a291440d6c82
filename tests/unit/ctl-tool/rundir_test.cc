// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/rundir_test.cc -- btlctl jobs where the run directory may not be used.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include "node_of_children.h"

using namespace livebtl;
using namespace livebtl::test;

TEST_CASE("a run directory that may not be used is why no job is seen, and is said") {
  const Scratch files;
  Node node;
  const auto jobs_in = [&](const std::string& rundir) {
    return node.shell("LIVEBTL_RUNDIR=" + rundir + " btlctl --json jobs");
  };
  CHECK(jobs_in(files / "not-there").code == 0);
  REQUIRE(::mkdir((files / "open").c_str(), 0755) == 0);
  write_file(files / "file", "");
  for (const char* name : {"open", "file"}) {
    const auto answer = jobs_in(files / name);
    CHECK(answer.code == 9);
    CHECK(answer.err.find("LIVEBTL_RUNDIR: " + (files / name)) != std::string::npos);
    CHECK(answer.json()["exit_code"] == 9);
  }
  if (::geteuid() == 0) return;  // root may read anything
  REQUIRE(::mkdir((files / "closed").c_str(), 0300) == 0);
  CHECK(jobs_in(files / "closed").code == 9);
}
