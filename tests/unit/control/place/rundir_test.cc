// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/place/rundir_test.cc -- run and job directories: owners, rights, removal.
#include "control/place/rundir.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process_files.h"
#include "control/client/discovery.h"
#include "control/place/directory.h"
#include "tests/unit/control/agent/scratch.h"

using namespace livebtl;
using namespace livebtl::control;
using livebtl::test::Scratch;
using livebtl::test::write_file;

namespace {
constexpr uid_t kNobody = 65534;
std::optional<std::string> nothing(std::string_view) { return std::nullopt; }
}  // namespace

TEST_CASE("another user's directory is refused" * doctest::skip(::geteuid() != 0)) {
  Scratch scratch;
  REQUIRE(::mkdir((scratch / "run").c_str(), 0700) == 0);
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
  const std::string secret = secret_path(one->path, one->run);
  for (const std::string& file : {secret, one->path + "/00000000000000ab.rlk"})
    write_file(file, std::string(32, 'x'));
  for (const std::string_view kind : kProcessFiles)
    write_file(one->path + "/" + process_file(ProcessId{0xab}, kind), "x");
  write_file(secret + ".4711", "unfinished");  // its maker was killed
  one->hold.reset();
  remove_if_abandoned(other->path);
  CHECK(std::filesystem::exists(secret));
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
  write_file(scratch.path() + "/thesis/secret", std::string(32, 'x'));
  write_file(scratch.path() + "/thesis/livebtl.run", "no register");
  write_file(scratch.path() + "/thesis/chapter.lock", "x");
  write_file(scratch.path() + "/job/notes", "x");
  auto job = make_job_directory(scratch.path(), "job");
  REQUIRE(job);
  write_file(job->path + "/00000000000000ab.gone", "x");
  CHECK(find_jobs(run_directories(scratch.path(), nothing)).empty());
  leave_job_directory(job->path, std::move(job->hold));
  CHECK(std::filesystem::exists(scratch.path() + "/thesis/secret"));
  CHECK(std::filesystem::exists(scratch.path() + "/thesis/livebtl.run"));
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

namespace {

void give_to_nobody(const std::string& path) {
  REQUIRE(::lchown(path.c_str(), kNobody, kNobody) == 0);
}

std::string directory_of_nobody(const std::string& path) {
  REQUIRE(::mkdir(path.c_str(), 0700) == 0);
  give_to_nobody(path);
  return path;
}

/// A card of a member that seems to live while its file is locked, which only that user can do.
Fd locked_card(const std::string& path, ProcessId process) {
  MemberCard card;
  card.member = {process, Incarnation{1}};
  card.mark = own_mark();
  card.node = process_name(ProcessId{0xaa});
  write_file(path, format_card(card));
  Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(take_lock(fd.number()));
  return fd;
}

}  // namespace

namespace {

/// Everything that a user can put where root looks for that user's jobs. Returns a lock that root
/// holds on one card.
Fd fill_with_traps(const std::string& run, const std::string& job) {
  REQUIRE(::mkfifo(card_path(job, ProcessId{1}).c_str(), 0600) == 0);
  REQUIRE(::symlink("/dev/zero", card_path(job, ProcessId{2}).c_str()) == 0);
  REQUIRE(::mkdir(card_path(job, ProcessId{3}).c_str(), 0700) == 0);
  write_file(card_path(job, ProcessId{4}), "");
  REQUIRE(::truncate(card_path(job, ProcessId{4}).c_str(), off_t{1} << 40) == 0);
  REQUIRE(::mkfifo((job + "/" + std::string(kRunRegister)).c_str(), 0600) == 0);
  for (std::uint64_t process = 1; process <= 4; ++process)
    give_to_nobody(card_path(job, ProcessId{process}));
  REQUIRE(::symlink(job.c_str(), (run + "/link").c_str()) == 0);
  REQUIRE(::mkfifo((run + "/fifo").c_str(), 0600) == 0);
  return locked_card(card_path(job, ProcessId{5}), ProcessId{5});
}

}  // namespace

TEST_CASE("whatever lies in another user's directories, root neither waits nor believes it" *
          doctest::skip(::geteuid() != 0)) {
  Scratch scratch;
  const std::string run = directory_of_nobody(scratch / "run");
  const std::string job = directory_of_nobody(run + "/job");
  const Fd of_roots = fill_with_traps(run, job);
  const auto places = run_directories(run, nothing, kNobody);
  REQUIRE(places.size() == 1);
  CHECK(find_jobs(places).empty());
  CHECK(run_directories(run, nothing, 0).empty());

  REQUIRE(::unlink((job + "/" + std::string(kRunRegister)).c_str()) == 0);
  const Fd own = locked_card(card_path(job, ProcessId{6}), ProcessId{6});
  give_to_nobody(card_path(job, ProcessId{6}));
  const auto jobs = find_jobs(places);
  REQUIRE(jobs.size() == 1);
  CHECK(jobs[0].owner == kNobody);
  REQUIRE(jobs[0].members.live.size() == 1);
  CHECK(jobs[0].members.live[0].member.process == ProcessId{6});
  CHECK(
      std::filesystem::exists(card_path(job, ProcessId{4})));  // nothing of that user's is touched
}

TEST_CASE("of another user's files no more are looked at than a few thousand" *
          doctest::skip(::geteuid() != 0)) {
  Scratch scratch;
  const std::string run = directory_of_nobody(scratch / "run");
  const std::string job = directory_of_nobody(run + "/job");
  for (std::uint64_t process = 1; process <= kFilesOfOthers + 1; ++process)
    write_file(card_path(job, ProcessId{process}), "");
  CHECK_FALSE(scan_members(job, kNobody).complete);
  CHECK(list_directory(job, kFilesOfOthers).size() == kFilesOfOthers);
  for (std::size_t i = 0; i <= kFilesOfOthers; ++i)
    REQUIRE(::mkdir((run + "/job" + std::to_string(i)).c_str(), 0700) == 0);
  CHECK(find_jobs(run_directories(run, nothing, kNobody)).empty());
}
