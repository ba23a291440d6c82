// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/launch/system_test.cc -- the real machine, as far as tests can know it.
#include "launch/system.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace livebtl::launch;

TEST_CASE("a program is run with variables of its own, and its output and code come back") {
  const RealSystem system;
  const auto sh = program_of(system, "sh");
  REQUIRE(sh);
  const Ran ran = system.run({*sh, "-c", "echo $OWN; echo more >&2; exit 3"}, {{"OWN", "given"}});
  CHECK(ran.output == "given\nmore\n");
  CHECK(ran.exit_code == 3);
  CHECK(system.run({"/nonexistent/program"}).exit_code == -1);
  CHECK(system.run({*sh, "-c", "cat"}).exit_code == 0);  // there is no input to wait for
}

TEST_CASE("output is bounded, and a program that writes more ends all the same") {
  const RealSystem system;
  const Ran ran = system.run({*program_of(system, "sh"), "-c", "head -c 1000000 /dev/zero"});
  CHECK(ran.exit_code == 0);
  CHECK(ran.output.size() == 256u << 10);
}

TEST_CASE("programs are found as a shell finds them") {
  char name[] = "/tmp/lb-launch-XXXXXX";
  REQUIRE(::mkdtemp(name) != nullptr);
  const std::string folder = name;
  std::ofstream(folder + "/runs") << "#!/bin/sh\n";
  std::ofstream(folder + "/text") << "no program\n";
  std::filesystem::permissions(folder + "/runs", std::filesystem::perms::owner_all);
  const RealSystem system;
  CHECK(program_of(system, folder + "/runs") == folder + "/runs");
  CHECK_FALSE(program_of(system, folder + "/text"));
  CHECK_FALSE(program_of(system, folder));
  CHECK_FALSE(program_of(system, "no-program-is-called-so"));
  const auto names = system.names_in(folder);
  CHECK(names == std::vector<std::string>{"runs", "text"});
  CHECK(system.facts(folder + "/text")->bytes == 11);
  CHECK(system.facts(folder)->kind == FileFacts::Kind::kDirectory);
  CHECK_FALSE(system.file_text(folder + "/none"));
  std::filesystem::remove_all(folder);
}
