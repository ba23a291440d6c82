// SPDX-License-Identifier: BSD-3-Clause
// A job's processes are dumped and restored by a played CRIU, with real archives and a real set.
#include "hypervisor/criu/process_tree.h"
#include "tests/unit/hypervisor/criu/played_programs.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

const std::string kDumped = "checkpoint prepare\ncheckpoint prepare sm\nhold start id\ncriu dump\n";
const std::string kBack = "hold end id\ncheckpoint return\n";

/// Makes a set of a job whose processes have ended.
void make_set(Stage& stage, const std::string& set) {
  const Report report = stage.dump(stage.request(set));
  REQUIRE_MESSAGE(report.end.code == 0, report.end.text);
  stage.end_job();
  stage.calls();
}

}  // namespace

TEST_CASE("a job is dumped as a set of one file, and its processes are ended") {
  Stage stage;
  const Report report = stage.dump(stage.request());
  CHECK_MESSAGE(report.end.code == 0, report.end.text);
  CHECK(stage.calls() == kDumped);
  CHECK(stage.job_ends());
  CHECK(stage.has("set/set.json"));
  CHECK(stage.has("set/vm1.criu"));
  CHECK_FALSE(stage.has("set/images"));
}

TEST_CASE("a job that is to go on is held until it was checked, and the set is sealed") {
  Stage stage;
  CriuRequest request = stage.request();
  request.goes_on = true;
  const Report report = stage.dump(request);
  CHECK_MESSAGE(report.end.code == 0, report.end.text);
  CHECK(stage.calls() == kDumped + "hold check id\n" + kBack);
  CHECK(stage.job_lives());
  CHECK(stage.has("set/set.json"));
}

TEST_CASE("whatever fails before the set is sealed leads back, and leaves no set") {
  struct Case {
    const char *fails, *code;
    int ends_with;
    std::string calls;
  };
  const Case cases[] = {{"checkpoint-prepare", "3", 3, "checkpoint prepare\ncheckpoint return\n"},
                        {"hold-start", "10", 10,
                         "checkpoint prepare\ncheckpoint prepare sm\nhold start id\n" + kBack},
                        {"criu-dump", "1", 5, kDumped + kBack},
                        {"hold-check", "8", 8, kDumped + "hold check id\n" + kBack}};
  for (const Case& each : cases) {
    CAPTURE(each.fails);
    Stage stage;
    stage.put(std::string("fail-") + each.fails, each.code, 0600);
    CriuRequest request = stage.request();
    request.goes_on = true;
    const Report report = stage.dump(request);
    CHECK_MESSAGE(report.end.code == each.ends_with, report.end.text);
    CHECK(stage.calls() == each.calls);
    CHECK(stage.job_lives());
    CHECK_FALSE(stage.has("set"));
  }
}

TEST_CASE("what CRIU says is told") {
  Stage stage;
  stage.put("fail-criu-dump", "1", 0600);
  const Report report = stage.dump(stage.request());
  CHECK(report.end.text.find("it was told to fail") != std::string::npos);
  CHECK(report.end.text.find("runs on as it did") != std::string::npos);
}

TEST_CASE("a dump that ends after the lease of the hold is none, and the job lives") {
  Stage stage;
  CriuRequest request = stage.request();
  request.lease = 0;
  const Report report = stage.dump(request);
  CHECK(report.end.code == 5);
  CHECK(report.end.text.find("--lease must be longer") != std::string::npos);
  CHECK(stage.job_lives());
  CHECK_FALSE(stage.has("set"));
}

TEST_CASE("a dump that is not done in time fails by its script: nobody ends CRIU meanwhile") {
  Stage stage;
  stage.put("slow-criu", "4", 0600);
  CriuRequest request = stage.request();
  request.timeout = 3 * kSecond;
  const Report report = stage.dump(request);
  CHECK(report.end.code == 5);
  CHECK_MESSAGE(report.end.text.find("--timeout must be longer") != std::string::npos,
                report.end.text);
  CHECK(stage.job_lives());
  CHECK_FALSE(stage.has("set"));
}

TEST_CASE(
    "a CRIU that was killed when the processes had ended leaves a set, which is the only copy") {
  Stage stage;
  stage.put("kill-criu", "", 0600);
  const Report report = stage.dump(stage.request());
  CHECK_MESSAGE(report.end.code == 6, report.end.text);
  REQUIRE(report.end.left.size() == 1);
  CHECK(report.end.left[0].find("criu dump ended with code 137") != std::string::npos);
  CHECK(stage.calls() == kDumped);
  CHECK(stage.job_ends());
  CHECK(stage.has("set/set.json"));
  CHECK(stage.has("set/vm1.criu"));
}

TEST_CASE("a CRIU that fails when all is archived, but has ended nothing, leaves no set") {
  Stage stage;
  stage.put("fail-criu-end", "", 0600);
  const Report report = stage.dump(stage.request());
  CHECK(report.end.code == 5);
  CHECK(stage.calls() == kDumped + kBack);
  CHECK(stage.job_lives());
  CHECK_FALSE(stage.has("set"));
}

TEST_CASE("a restore that fails says that none of its processes runs") {
  Stage stage;
  make_set(stage, "set");
  stage.put("fail-criu-restore", "", 0600);
  const Report report = stage.restart(stage.request());
  CHECK(report.end.code == 5);
  CHECK_MESSAGE(report.end.text.find("; no process of the set runs") != std::string::npos,
                report.end.text);
}

TEST_CASE("of processes those that are there are named") {
  Stage stage;
  const std::string here = named_process(::getpid());
  REQUIRE(!here.empty());
  CHECK(named_processes({::getpid(), ::getpid()}) == here + ", " + here);
  const pid_t gone = stage.job();
  stage.end_job();
  CHECK(named_processes({gone}).empty());
}

TEST_CASE("a job with processes on other nodes is refused, and left alone") {
  Stage stage;
  CriuRequest request = stage.request();
  request.find_job = [&] {
    return Result<JobHere>(JobHere{"a-job", stage.path("job"), {stage.job()}, false, true});
  };
  CHECK(stage.dump(request).end.code == 3);
  CHECK(stage.calls().empty());
}

TEST_CASE("a set is restored: files first, then processes, and the job goes on") {
  Stage stage;
  make_set(stage, "set");
  std::filesystem::remove_all(stage.path("job"));
  std::int64_t clock_s = 0;
  CriuRequest request = stage.request();
  request.set_clock = [&clock_s](std::int64_t from) {
    clock_s = from;
    return Status{};
  };
  const Report report = stage.restart(request);
  CHECK_MESSAGE(report.end.code == 0, report.end.text);
  CHECK(stage.calls() == "criu restore\njob restored id\ncheckpoint return\n");
  CHECK(stage.text("job/card") == "a card");
  CHECK(stage.has("restored"));
  CHECK(clock_s > 0);
  CHECK_FALSE(stage.has("set/images"));
}

TEST_CASE("a file that is damaged, or of another set, is refused by name, and CRIU is not called") {
  Stage stage;
  make_set(stage, "set");
  std::filesystem::copy(stage.path("set"), stage.path("other"));
  std::filesystem::permissions(stage.path("other"), std::filesystem::perms::owner_all);
  std::fstream file(stage.path("other/vm1.criu"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(600);
  file.put('x');
  file.close();
  const Report report = stage.restart(stage.request("other"));
  CHECK(report.end.code == 8);
  CHECK(report.end.text.find("vm1.criu") != std::string::npos);
  CHECK(stage.calls().empty());
}

TEST_CASE("a set whose processes still run is refused before a file of theirs is touched") {
  Stage stage;
  CriuRequest request = stage.request();
  request.goes_on = true;
  REQUIRE(stage.dump(request).end.code == 0);
  stage.calls();
  stage.put("job/card", "a newer card", 0600);
  const Report report = stage.restart(stage.request());
  CHECK(report.end.code == 3);
  CHECK(report.end.text.find("sleep") != std::string::npos);
  CHECK(stage.calls().empty());
  CHECK(stage.text("job/card") == "a newer card");
}

TEST_CASE("a link where the job's directory was leads no file of the job elsewhere") {
  Stage stage;
  make_set(stage, "set");
  stage.calls();
  std::filesystem::rename(stage.path("job"), stage.path("away"));
  stage.put("away/card", "untouched", 0600);
  std::filesystem::create_directory_symlink(stage.path("away"), stage.path("job"));
  const Report report = stage.restart(stage.request());
  CHECK(report.end.code == 3);
  CHECK(report.end.text.find("/job' is a symbolic link") != std::string::npos);
  CHECK(stage.calls().empty());
  CHECK(stage.text("away/card") == "untouched");
}

TEST_CASE("a job that does not say that it is whole does not go on") {
  Stage stage;
  make_set(stage, "set");
  stage.put("fail-job-restored", "8", 0600);
  const Report report = stage.restart(stage.request());
  CHECK(report.end.code == 8);
  CHECK(report.end.text.find("ended again") != std::string::npos);
  CHECK(stage.calls() == "criu restore\njob restored id\n");
}

TEST_CASE("a dry run names the programs, and calls none") {
  Stage stage;
  CriuRequest request = stage.request();
  request.dry_run = true;
  const Report report = stage.dump(request);
  CHECK(report.end.code == 0);
  CHECK(report.plan.size() == 5);
  CHECK(stage.calls().empty());
  CHECK_FALSE(stage.has("set"));
}
