// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/place/run_test.cc -- a run is a run: what another one of the same name left in the directory
// counts for nothing, even if a clone of a dead process keeps its locks.
#include "control/place/run.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/node_identity.h"
#include "base/process_files.h"
#include "control/agent/agent.h"
#include "tests/unit/control/agent/job_of_fakes.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {

enum class Leaves { kNothing, kClone };  // left behind alive; the clone keeps all its descriptors

/// One of a job's three processes, as its launcher sees it.
class Rank {
 public:
  Rank(const Settings& settings, std::uint64_t number, Leaves leaves) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    pid_ = ::fork();
    if (pid_ == 0) live(settings, ProcessId{number}, leaves, ready[1]);
    REQUIRE(::read(ready[0], &clone_, sizeof clone_) == sizeof clone_);
    ::close(ready[0]);
    ::close(ready[1]);
    REQUIRE(clone_ >= 0);
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;
  ~Rank() {
    crash();
    if (clone_ > 0) ::kill(clone_, SIGKILL);
  }
  void crash() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    CHECK(::waitpid(pid_, nullptr, 0) == pid_);
    pid_ = 0;
  }

 private:
  [[noreturn]] static void live(const Settings& settings, ProcessId process, Leaves leaves,
                                int ready) {
    FakeAdmin admin;
    const auto facts = find_job(settings, process);
    const auto agent = facts ? Agent::start(*facts, process, admin) : fail(Errc::kDown, "");
    pid_t clone = agent ? 0 : -1;
    if (agent && leaves == Leaves::kClone) {
      clone = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));  // no handlers run
      if (clone == 0) {
        for (;;) ::pause();
      }
    }
    [[maybe_unused]] const auto sent = ::write(ready, &clone, sizeof clone);
    for (;;) ::pause();
  }

  pid_t pid_ = 0;
  pid_t clone_ = 0;
};

Settings settings_in(const Scratch& scratch) {
  Settings settings;
  settings.rundir = scratch / "run";
  settings.job = "test";
  settings.node = "test";
  settings.size = 3;
  return settings;
}

std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// The files of a run of one process.
std::vector<std::string> files_of(ProcessId process, RunId run) {
  const ProcessId node{*node_identity("test")};
  std::vector<std::string> names{
      process_file(process, kControlSocket), process_file(process, kCardFile),
      process_file(process, kPageFile),      std::string(kRunRegister),
      process_file(node, kRelayStartLock),  // it looks for a relay
      secret_path("", run).substr(1)};
  std::sort(names.begin(), names.end());
  return names;
}

template <class What>
Outcome outcome_of(const Settings& settings, const What& command) {
  const std::string directory = settings.rundir + "/test";
  JobLinks links = JobLinks::open({"test", directory, ::geteuid(), {}});
  const auto outcome = drive(links, command, {}, std::atomic<bool>{false});
  REQUIRE(outcome);
  return *outcome;
}

}  // namespace

TEST_CASE("of a run that crashed nothing counts, is used again, or stays") {
  for (const Leaves leaves : {Leaves::kNothing, Leaves::kClone}) {
    CAPTURE(static_cast<int>(leaves));
    Scratch scratch;
    const Settings settings = settings_in(scratch);
    const std::string directory = settings.rundir + "/test";
    Rank one(settings, 1, leaves), two(settings, 2, leaves), three(settings, 3, leaves);
    const RunId first = current_run(directory, ::geteuid());
    CHECK(scan_members(directory, ::geteuid()).live.size() == 3);
    for (Rank* rank : {&one, &two, &three}) rank->crash();
    CHECK(scan_members(directory, ::geteuid()).live.empty());
    CHECK(scan_members(directory, ::geteuid()).gone.size() == 3);  // until another run begins
    CHECK(std::filesystem::exists(secret_path(directory, first)));

    Rank again(settings, 4, Leaves::kNothing);
    const RunId second = current_run(directory, ::geteuid());
    CHECK(second != first);
    CHECK(scan_members(directory, ::geteuid()).live.size() == 1);
    CHECK(scan_members(directory, ::geteuid()).gone.empty());
    CHECK(files_in(directory) == files_of(ProcessId{4}, second));
  }
}

TEST_CASE("most of the announced are not there: nothing is switched, set aside or held") {
  Scratch scratch;
  const Settings settings = settings_in(scratch);
  { Rank one(settings, 1, Leaves::kNothing), two(settings, 2, Leaves::kNothing); }
  Rank again(settings, 3, Leaves::kNothing);
  auto command = JobOfFakes::command("switch", {"sm", "tcp"});
  command.times = times_within(kSecond);
  CHECK(outcome_of(settings, command).code == ExitCode::kMembersMissing);
  command.verb = "checkpoint";
  command.arguments = {"prepare"};
  CHECK(outcome_of(settings, command).code == ExitCode::kMembersMissing);
  HoldCommand hold;
  hold.job = "test";
  hold.id = 7;
  hold.times.total = kSecond;
  for (const HoldVerb verb : {HoldVerb::kStart, HoldVerb::kCheck}) {
    hold.verb = verb;
    CHECK(outcome_of(settings, hold).code == ExitCode::kMembersMissing);
  }
}

TEST_CASE("who comes while others are there is of their run") {
  Scratch scratch;
  const auto one = make_job_directory(scratch.path(), "job");
  const auto two = make_job_directory(scratch.path(), "job");
  REQUIRE(one);
  REQUIRE(two);
  CHECK(one->begins);
  CHECK_FALSE(two->begins);
  CHECK(one->run == two->run);
}

TEST_CASE("a card of another run is no member, even if its process lives") {
  Scratch scratch;
  auto job = make_job_directory(scratch.path(), "job");
  REQUIRE(job);
  JobFacts facts;
  facts.node = 0xaa;
  facts.announced = 2;
  MemberCard card = card_of(facts, {ProcessId{0x77}, Incarnation{1}});
  card.run = RunId{static_cast<std::uint64_t>(job->run) + 1};
  const auto file = MemberFile::publish(job->path, card);
  REQUIRE(file);
  CHECK(scan_members(job->path, ::geteuid()).live.empty());
  CHECK(scan_members(job->path, ::geteuid()).complete);
  write_file(gone_path(job->path, ProcessId{0x78}), format_card(card));
  CHECK(scan_members(job->path, ::geteuid()).gone.empty());
}

TEST_CASE("the next start of any job tidies what crashed ones have left") {
  Scratch scratch;
  Settings settings = settings_in(scratch);
  { Rank crashed(settings, 1, Leaves::kNothing); }
  CHECK(std::filesystem::exists(settings.rundir + "/test"));
  settings.job = "other";
  const auto other = find_job(settings, ProcessId{9});
  REQUIRE(other);
  CHECK_FALSE(std::filesystem::exists(settings.rundir + "/test"));
}

TEST_CASE("who leaves a run is no longer counted as one of it") {
  Scratch scratch;
  auto one = make_job_directory(scratch.path(), "job");
  auto two = make_job_directory(scratch.path(), "job");
  REQUIRE(two);
  for (auto* left : {&one, &two}) {
    auto entered = RunRegister::open((*left)->path, false);
    REQUIRE(entered);
    CHECK(entered->anybody_lives());
    entered = fail(Errc::kDown, "");  // gives up its lock
    (*left)->hold.reset();
  }
  auto left = RunRegister::open(scratch / "job", false);
  REQUIRE(left);
  CHECK_FALSE(left->anybody_lives());
}

TEST_CASE("a clone of a member is no member and harms none, even if it ends in good order") {
  JobOfFakes job(1);
  job.add_member();
  const pid_t child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (child == 0) {
    ::alarm(20);  // a clone that took itself for the member would wait for its thread for ever
    job.remove_member(0);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(job.place().members.live.size() == 1);
  CHECK(job.run("switch", {"sm", "tcp"}).code == ExitCode::kDone);
}

TEST_CASE("what is no register of ours is refused at once, and followed nowhere") {
  Scratch scratch;
  const std::string directory = scratch / "job";
  REQUIRE(::mkdir(directory.c_str(), 0700) == 0);
  const std::string path = directory + "/" + std::string(kRunRegister);
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK(make_job_directory(scratch.path(), "job").error().code == Errc::kAuth);
  CHECK(current_run(directory, ::geteuid()) == kNoRun);
  REQUIRE(::unlink(path.c_str()) == 0);
  write_file(scratch / "thesis", "mine");
  REQUIRE(::symlink((scratch / "thesis").c_str(), path.c_str()) == 0);
  CHECK_FALSE(make_job_directory(scratch.path(), "job"));
  REQUIRE(::unlink(path.c_str()) == 0);
  for (const std::string& rubbish : {std::string("x"), std::string(100'000, 'f'), std::string()}) {
    write_file(path, rubbish);
    const auto job = make_job_directory(scratch.path(), "job");
    REQUIRE(job);
    CHECK(job->begins);
    CHECK(job->run != kNoRun);
  }
}
