// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/place/job_test.cc -- find_job() and the secret's sources.
#include "control/place/job.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "control/place/job_secret.h"
#include "tests/unit/control/agent/scratch.h"

using namespace livebtl;
using namespace livebtl::control;
using livebtl::test::Scratch;
using livebtl::test::write_file;

namespace {

constexpr ProcessId kProcess{0x0123456789abcdef};

Settings settings_in(const Scratch& scratch) {
  Settings settings;
  settings.rundir = scratch / "run";
  settings.job = "test";
  settings.node = "alpha";
  return settings;
}

bool same(const Secret& one, const Secret& other) {
  return one.present() && other.present() &&
         std::equal(one.key().begin(), one.key().end(), other.key().begin());
}

const std::string kHex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

}  // namespace

TEST_CASE("a job has an id, a label, a node, a private directory and a secret") {
  Scratch scratch;
  Settings settings = settings_in(scratch);
  settings.size = 3;
  const auto facts = find_job(settings, kProcess);
  REQUIRE(facts);
  CHECK(facts->id == "test");
  CHECK(facts->announced == 3);
  CHECK(facts->host == "alpha");
  CHECK(facts->label.find(" on alpha") != std::string::npos);
  CHECK(facts->node != 0);
  CHECK(facts->directory == scratch / "run/test");
  CHECK(facts->secret.present());
  struct stat directory {};
  REQUIRE(::stat(facts->directory.c_str(), &directory) == 0);
  CHECK((directory.st_mode & 0777) == 0700);
}

TEST_CASE("a process without a launcher is a job named after itself") {
  Scratch scratch;
  Settings settings = settings_in(scratch);
  settings.job.clear();
  const auto facts = find_job(settings, kProcess);
  REQUIRE(facts);
  CHECK(facts->id == "0123456789abcdef");
  CHECK(facts->announced == 1);
}

namespace {

struct Variable {
  Variable(const char* its_name, const char* value) : name(its_name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name); }
  const char* name;
};

/// Two ranks under Open MPI's launcher, of which this many are here.
struct Launched {
  explicit Launched(const char* count_here) : here("OMPI_COMM_WORLD_LOCAL_SIZE", count_here) {
    settings = settings_in(scratch);
    settings.job.clear();
    settings.node.clear();
  }
  bool one_node() const {
    const auto facts = find_job(settings, kProcess);
    REQUIRE(facts);
    return facts->one_node;
  }
  Scratch scratch;
  Settings settings;
  const Variable seed{"OMPI_MCA_orte_precondition_transports", "1-1"};
  const Variable rank{"OMPI_COMM_WORLD_RANK", "0"}, size{"OMPI_COMM_WORLD_SIZE", "2"}, here;
};

}  // namespace

TEST_CASE("the launcher's word that all are on one node is passed on") {
  CHECK_FALSE(Launched("1").one_node());
  Launched launched("2");
  CHECK(launched.one_node());
  const Variable spawned("OMPI_PARENT_PORT", "1");
  CHECK_FALSE(launched.one_node());  // its parents may be elsewhere
}

TEST_CASE("... but not where somebody else may know better") {
  Launched by_name("2"), of_size("2"), on_a_node("2");
  by_name.settings.job = "test";  // others may be started by hand
  CHECK_FALSE(by_name.one_node());
  of_size.settings.size = 3;
  CHECK_FALSE(of_size.one_node());
  on_a_node.settings.node = "alpha";
  CHECK_FALSE(on_a_node.one_node());
}

TEST_CASE("a job id that is a path is refused") {
  Scratch scratch;
  Settings settings = settings_in(scratch);
  settings.job = "../other";
  CHECK(find_job(settings, kProcess).error().code == Errc::kInvalid);
}

TEST_CASE("processes that start together agree on one secret") {
  Scratch scratch;
  const Settings settings = settings_in(scratch);
  constexpr int kProcesses = 8;
  std::vector<Result<JobFacts>> facts(kProcesses, fail(Errc::kDown, ""));
  std::vector<std::thread> threads;
  for (auto& one : facts) {
    threads.emplace_back([&settings, &one] { one = find_job(settings, kProcess); });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& one : facts) {
    REQUIRE(one);
    CHECK(same(one->secret, facts[0]->secret));
  }
  struct stat file {};
  REQUIRE(::stat(secret_path(facts[0]->directory, facts[0]->run).c_str(), &file) == 0);
  CHECK((file.st_mode & 0777) == 0600);
}

TEST_CASE("jobs have different secrets") {
  Scratch scratch;
  Settings settings = settings_in(scratch);
  const auto one = find_job(settings, kProcess);
  settings.job = "other";
  const auto other = find_job(settings, kProcess);
  REQUIRE(one);
  REQUIRE(other);
  CHECK_FALSE(same(one->secret, other->secret));
}

TEST_CASE("a launcher's seed makes the same secret everywhere, and no file") {
  Scratch scratch;
  const Settings settings = settings_in(scratch);
  const auto one = find_secret(settings, "2c0af7a1617fb41f-91fce5a0dfb64625", scratch / "secret");
  const auto two = find_secret(settings, "2c0af7a1617fb41f-91fce5a0dfb64625", "/nowhere");
  const auto three = find_secret(settings, "2c0af7a1617fb41f-91fce5a0dfb64626", scratch / "secret");
  REQUIRE(one);
  CHECK(same(*one, *two));
  CHECK_FALSE(same(*one, *three));
  CHECK_FALSE(std::filesystem::exists(scratch / "secret"));
}

TEST_CASE(
    "a seed given to all nodes names the job that MPICH's launcher gives no name, and makes its "
    "secret") {
  Scratch here, there;
  const Variable rank("PMI_RANK", "0"), size("PMI_SIZE", "2");
  const auto found_in = [](const Scratch& node, const std::string& seed) {
    Settings settings = settings_in(node);
    settings.job.clear();
    settings.seed = seed;
    auto facts = find_job(settings, kProcess);
    REQUIRE(facts);
    return *facts;
  };
  const std::string given(64, 'a');
  const JobFacts one = found_in(here, given), two = found_in(there, given);
  CHECK(one.id.starts_with("pmi-"));
  CHECK(one.id == two.id);
  CHECK(same(one.secret, two.secret));
  CHECK(one.id.find(given.substr(0, 8)) == std::string::npos);
  CHECK(found_in(here, std::string(64, 'b')).id != one.id);
  CHECK(found_in(here, "").id != one.id);
  const Variable named("PMI_JOBID", "7.0");  // as under srun
  const JobFacts by_slurm = found_in(here, given);
  CHECK(by_slurm.id == "pmi-7.0");
  CHECK(same(by_slurm.secret, one.secret));
}

TEST_CASE("without authentication there is no secret") {
  Scratch scratch;
  Settings settings = settings_in(scratch);
  settings.auth = AuthLevel::kNone;
  CHECK_FALSE(find_secret(settings, "", scratch / "secret")->present());
}

TEST_CASE("a secret file must be closed to others and hold 32 bytes") {
  Scratch scratch;
  Settings settings = settings_in(scratch);
  settings.secret_file = scratch / "key";
  CHECK(find_secret(settings, "", "").error().code == Errc::kNotFound);
  write_file(settings.secret_file, kHex + "\n", 0600);
  const auto good = find_secret(settings, "", "");
  REQUIRE(good);
  CHECK(good->key()[31] == std::byte{0x1f});
  REQUIRE(::chmod(settings.secret_file.c_str(), 0640) == 0);
  CHECK(find_secret(settings, "", "").error().code == Errc::kAuth);
  for (const std::string& bad : {std::string(), std::string("short"), kHex + "00",
                                 std::string(1000, 'a'), std::string(64, 'g')}) {
    write_file(settings.secret_file, bad);
    CHECK_FALSE(find_secret(settings, "", ""));
  }
}

TEST_CASE("a secret file that is a link or belongs to another user is refused") {
  Scratch scratch;
  Settings settings = settings_in(scratch);
  write_file(scratch / "real", kHex);
  settings.secret_file = scratch / "link";
  REQUIRE(::symlink((scratch / "real").c_str(), settings.secret_file.c_str()) == 0);
  CHECK_FALSE(find_secret(settings, "", ""));
  if (::geteuid() == 0) {
    settings.secret_file = scratch / "real";
    REQUIRE(::chown(settings.secret_file.c_str(), 65534, 65534) == 0);
    CHECK(find_secret(settings, "", "").error().code == Errc::kAuth);
  }
}

TEST_CASE("a secret comes through a descriptor, and several processes can read the same one") {
  Settings settings;
  const Fd file(::memfd_create("secret", MFD_CLOEXEC));
  REQUIRE(::write(file.number(), kHex.data(), 32) == 32);
  settings.secret_fd = file.number();
  const auto one = find_secret(settings, "", "");
  const auto two = find_secret(settings, "", "");
  REQUIRE(one);
  REQUIRE(two);
  CHECK(same(*one, *two));
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  Fd reader(ends[0]), writer(ends[1]);
  REQUIRE(::write(writer.number(), kHex.data(), 32) == 32);
  writer.reset();
  settings.secret_fd = reader.number();
  CHECK(same(*one, *find_secret(settings, "", "")));
  settings.secret_fd = 9999;
  CHECK_FALSE(find_secret(settings, "", ""));
}
