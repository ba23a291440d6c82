// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/place/rundir_test.cc -- run and job directories: whose, how open, when removed.
#include "control/place/rundir.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process_files.h"
#include "control/client/discovery.h"
#include "tests/unit/control/agent/scratch.h"

using namespace livebtl;
using namespace livebtl::control;
using livebtl::test::Scratch;
using livebtl::test::write_file;

namespace {
std::optional<std::string> nothing(std::string_view) { return std::nullopt; }
}  // namespace

TEST_CASE("another user's directory is refused" * doctest::skip(::geteuid() != 0)) {
  Scratch scratch;
  REQUIRE(::mkdir((scratch / "run").c_str(), 0700) == 0);
  constexpr uid_t kNobody = 65534;
  REQUIRE(::chown((scratch / "run").c_str(), kNobody, kNobody) == 0);
  CHECK(make_run_directory(scratch / "run", {}).error().code == Errc::kAuth);
  CHECK(run_directories(scratch / "run", nothing).empty());
  CHECK(open_private_directory(scratch / "run", kNobody));
}

TEST_CASE("a job directory whose sockets would not fit is refused") {
  Scratch scratch;
  const auto job = make_job_directory(scratch.path(), std::string(90, 'j'));
  REQUIRE_FALSE(job);
  CHECK(job.error().code == Errc::kLimit);
}

TEST_CASE("a held job directory stays, an abandoned one goes") {
  Scratch scratch;
  auto one = make_job_directory(scratch.path(), "job");
  auto other = make_job_directory(scratch.path(), "job");
  REQUIRE(one);
  REQUIRE(other);
  for (const char* name : {"/secret", "/00000000000000ab.rlk"})
    write_file(one->path + name, std::string(32, 'x'));
  for (const std::string_view kind : kProcessFiles)
    write_file(one->path + "/" + process_file(ProcessId{0xab}, kind), "x");
  one->hold.reset();
  remove_if_abandoned(other->path);
  CHECK(std::filesystem::exists(other->path + "/secret"));
  other->hold.reset();
  remove_if_abandoned(other->path);
  CHECK_FALSE(std::filesystem::exists(other->path));
}

TEST_CASE("whoever asks for jobs, or leaves one, touches nothing of the user's") {
  Scratch scratch;
  for (const char* mine : {"/thesis", "/empty", "/job"}) {
    std::filesystem::create_directory(scratch.path() + mine);
    ::chmod((scratch.path() + mine).c_str(), 0700);
  }
  write_file(scratch.path() + "/thesis/secret", "of no job's length");
  write_file(scratch.path() + "/thesis/chapter.lock", "x");
  write_file(scratch.path() + "/job/notes", "x");
  auto job = make_job_directory(scratch.path(), "job");
  REQUIRE(job);
  write_file(job->path + "/00000000000000ab.gone", "x");
  CHECK(find_jobs(run_directories(scratch.path(), nothing)).empty());
  leave_job_directory(job->path, std::move(job->hold));
  CHECK(std::filesystem::exists(scratch.path() + "/thesis/secret"));
  CHECK(std::filesystem::exists(scratch.path() + "/thesis/chapter.lock"));
  CHECK(std::filesystem::exists(scratch.path() + "/empty"));
  CHECK(std::filesystem::exists(scratch.path() + "/job/notes"));
  CHECK_FALSE(std::filesystem::exists(scratch.path() + "/job/00000000000000ab.gone"));
}

TEST_CASE("the places searched are those that exist and are private") {
  Scratch scratch;
  CHECK(run_directories(scratch / "missing", nothing).empty());
  const auto found = run_directories(scratch.path(), nothing);
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == scratch.path());
  CHECK(found[0].owner == ::geteuid());
}
