// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/base/run_directory_test.cc -- which run directory is chosen, and which are refused.
#include "base/run_directory.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/control/agent/scratch.h"

using namespace livebtl;
using livebtl::test::Scratch;
using livebtl::test::write_file;

TEST_CASE("a run directory is made private") {
  Scratch scratch;
  const auto rundir = make_run_directory(scratch / "run", {});
  REQUIRE(rundir);
  struct stat facts {};
  REQUIRE(::stat(rundir->c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0700);
  CHECK(make_run_directory(scratch / "run", {}));
}

TEST_CASE("a run directory that others can enter is refused, with the remedy") {
  Scratch scratch;
  const std::string path = scratch / "run";
  REQUIRE(::mkdir(path.c_str(), 0700) == 0);
  for (mode_t mode : {0770u, 0707u, 0701u, 0750u}) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    const auto rundir = make_run_directory(path, {});
    REQUIRE_FALSE(rundir);
    CHECK(rundir.error().code == Errc::kAuth);
    CHECK(rundir.error().text.find("of your own with mode 0700") != std::string::npos);
  }
}

TEST_CASE("a link or a file in the run directory's place is refused") {
  Scratch scratch;
  REQUIRE(::mkdir((scratch / "real").c_str(), 0700) == 0);
  REQUIRE(::symlink((scratch / "real").c_str(), (scratch / "link").c_str()) == 0);
  write_file(scratch / "file", "");
  CHECK(make_run_directory(scratch / "link", {}).error().code == Errc::kAuth);
  CHECK(make_run_directory(scratch / "file", {}).error().code == Errc::kAuth);
  CHECK(make_run_directory("relative", {}).error().code == Errc::kInvalid);
}

TEST_CASE("a name that another user has taken in a shared folder is stepped around, for good" *
          doctest::skip(::geteuid() != 0)) {
  constexpr uid_t kAnother = 65534;
  Scratch scratch;
  write_file(scratch / "file", "");  // no directory can be made in it
  const RunPlaces places{scratch / "file/system", {}, scratch.path()};
  const auto names = temporary_places(scratch.path(), ::geteuid());
  for (std::size_t taken = 0; taken < 2; ++taken) {
    REQUIRE(::mkdir(names[taken].c_str(), 0700) == 0);
    REQUIRE(::chown(names[taken].c_str(), kAnother, kAnother) == 0);
  }
  CHECK(make_run_directory("", places) == names[2]);
  REQUIRE(::rmdir(names[0].c_str()) == 0);
  CHECK(make_run_directory("", places) == names[2]);  // where our other processes already are
  for (const std::string& name : names) {
    ::rmdir(name.c_str());
    REQUIRE(::mkdir(name.c_str(), 0700) == 0);
    REQUIRE(::chown(name.c_str(), kAnother, kAnother) == 0);
  }
  const auto none = make_run_directory("", places);
  REQUIRE_FALSE(none);
  CHECK(none.error().text.find("set LIVEBTL_RUNDIR") != std::string::npos);
}

TEST_CASE(
    "the first of the places is taken that exists, and a session that does not exist is passed "
    "over") {
  Scratch scratch;
  const std::string user = std::to_string(::geteuid());
  // No directory can be made in a file.
  write_file(scratch / "file", "");
  RunPlaces places{scratch / "file/system", scratch / "session", scratch.path()};
  CHECK(make_run_directory("", places) == scratch / ("livebtl-" + user));
  REQUIRE(::mkdir((scratch / "session").c_str(), 0700) == 0);
  CHECK(make_run_directory("", places) == scratch / "session/livebtl");
  places.system = scratch / "system";
  REQUIRE(::mkdir(places.system.c_str(), 0755) == 0);
  REQUIRE(::mkdir((places.system + "/" + user).c_str(), 0700) == 0);
  CHECK(make_run_directory("", places) == places.system + "/" + user);
  CHECK(make_run_directory(scratch / "wanted", places) == scratch / "wanted");
}
