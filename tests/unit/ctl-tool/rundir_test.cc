// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/rundir_test.cc -- btlctl jobs where the run directory is unusable.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

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

TEST_CASE("jobs are found where the user's file says that they are, as their processes are") {
  const Scratch files;
  Node node;
  const auto one = node.member(0, "by-file", 1);
  const std::string file = files / "livebtl.conf";
  const auto btlctl = [&](const std::string& words) {
    return node.shell("unset LIVEBTL_RUNDIR; export XDG_CONFIG_HOME=" + files.path() +
                      "; btlctl --json --job by-file " + words);
  };
  CHECK(btlctl("jobs").code == 2);
  write_file(file, "rundir = " + node.job_directory("") + "\n");
  CHECK(btlctl("jobs").json()["jobs"].size() == 1);
  CHECK(btlctl("status").code == 0);
  CHECK(btlctl("--user " + std::to_string(::geteuid()) + " status").code == 0);
  // A variable takes precedence.
  CHECK(btlctl("jobs; LIVEBTL_RUNDIR=/nonexistent/run btlctl --job by-file status").code == 2);
}

TEST_CASE(
    "a file that cannot be read may name a run directory: that no job is there is not known") {
  const Scratch files;
  Node node;
  const auto jobs = [&] {
    return node.shell("unset LIVEBTL_RUNDIR; export XDG_CONFIG_HOME=" + files.path() +
                      "; btlctl --json --job nobodys jobs");
  };
  write_file(files / "livebtl.conf", "crc = never\n", 0666);
  const auto open = jobs();
  CHECK(open.code == 9);
  CHECK(open.err.find("chmod go-w") != std::string::npos);
  write_file(files / "livebtl.conf", "nonsense\n", 0600);
  CHECK(jobs().code == 1);
}
