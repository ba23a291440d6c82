// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/doctor_job_test.cc -- faults of a running job, and of hooks, planted one by
// one; and the line which says that a job is up.
#include "ctl-tool/doctor_job.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <fstream>
#include <functional>

#include "ctl-tool/hook_files.h"
#include "ctl-tool/run/announce.h"

using namespace livebtl;
using namespace livebtl::tool;
using doctor::Report;

namespace {

control::MemberEntry member(int rank, const std::string& node) {
  control::MemberEntry entry;
  entry.rank = rank;
  entry.node = node;
  entry.name = "rank " + std::to_string(rank) + " on " + node;
  return entry;
}

core::TransportStatus transport(const std::string& name, std::uint32_t peers, bool own = false) {
  core::TransportStatus status;
  status.name = name;
  status.open = true;
  status.peers = peers;
  status.own_pair = own;
  return status;
}

/// Four ranks on two nodes, at rest, over sm and verbs.
JobSight sound_job() {
  JobSight sight;
  sight.job = "ompi-1";
  for (int rank = 0; rank < 4; ++rank) {
    control::StatusAnswer answer;
    answer.standing.rank = rank;
    answer.standing.announced = 4;
    answer.engine.transports = {transport("self", 1, true), transport("sm", 1), transport("tcp", 0),
                                transport("verbs", 2)};
    sight.answers.emplace_back(member(rank, rank < 2 ? "a" : "b"), answer);
  }
  return sight;
}

std::vector<std::string> found(const JobSight& sight) {
  Report report;
  check_job(sight, report);
  std::vector<std::string> ids;
  for (const auto& each : report.findings) ids.push_back(each.id);
  return ids;
}

struct Fault {
  const char* id;
  std::function<void(JobSight&)> plant;
};
const Fault kFaults[] = {
    {"job-silent", [](JobSight& j) { j.silent.push_back(member(4, "b")); }},
    {"job-missing", [](JobSight& j) { j.missing.count = 1, j.missing.announced = 5; }},
    {"job-conflict", [](JobSight& j) { j.conflict = "two jobs go by the name ompi-1"; }},
    {"job-unfinished", [](JobSight& j) { j.answers[1].second.standing.rung = core::Rung::kJoint; }},
    {"job-unfinished", [](JobSight& j) { j.answers[1].second.standing.left_open = true; }},
    {"job-refused",
     [](JobSight& j) { j.answers[2].second.standing.report.refusal = "verbs: no device"; }},
    {"job-hold",
     [](JobSight& j) {
       j.answers[0].second.engine.hold.state = core::HoldState::kBroken;
       j.answers[0].second.engine.hold.why = "its lease ran out";
     }},
    {"job-hold",
     [](JobSight& j) {
       j.answers[0].second.engine.hold.state = core::HoldState::kFenced;
       j.answers[0].second.engine.hold.why = "a copy of it goes on";
     }},
    {"job-transport",
     [](JobSight& j) { j.answers[3].second.engine.transports[3].absent = "no port is active"; }},
    {"job-corrupt",
     [](JobSight& j) { j.answers[3].second.engine.transports[2].corrupt_frames = 7; }},
};

}  // namespace

TEST_CASE(
    "each fault of a running job is named, and nothing else; none in a sound one, or in "
    "mid-switch") {
  CHECK(found(sound_job()).empty());
  JobSight led = sound_job();
  led.answers[1].second.standing.rung = core::Rung::kJoint;
  led.answers[1].second.standing.busy = true;
  CHECK(found(led).empty());
  for (const Fault& fault : kFaults) {
    JobSight sight = sound_job();
    fault.plant(sight);
    CHECK_MESSAGE(found(sight) == std::vector<std::string>{fault.id}, fault.id);
  }
}

TEST_CASE(
    "a hook that is another's, or that others may write to, is a fault; one that is missing is "
    "none") {
  char name[] = "/tmp/lb-doctor-XXXXXX";
  REQUIRE(::mkdtemp(name) != nullptr);
  const std::filesystem::path root = name;
  const auto count = [&root] {
    Report report;
    check_hooks(root, report);
    return report.findings.size();
  };
  CHECK(count() == 0);
  const Hook& hook = hooks().front();
  const auto place = place_of(hook, root);
  CHECK(write_hook(hook, place, HookState::kMissing).empty());
  CHECK(count() == 0);
  std::filesystem::permissions(place, std::filesystem::perms(0777));
  CHECK(count() == 1);
  std::ofstream(place) << "#!/bin/sh\n";
  CHECK(count() == 1);
  std::filesystem::remove_all(root);
}

TEST_CASE("a job is announced when all of it is there") {
  JobSight job = sound_job();
  CHECK(up_line(job.job, job.answers) ==
        "4 ranks on 2 nodes, sm + verbs, job ompi-1 (btlctl status)");
  CHECK(all_talk(job.answers));
  job.answers[3].second.standing.joining = true;
  CHECK(up_line(job.job, job.answers).empty());
  job.answers.pop_back();
  CHECK(up_line(job.job, job.answers).empty());
  CHECK(up_line(job.job, {}).empty());
  job = sound_job();
  for (auto& [entry, answer] : job.answers)
    answer.engine.transports = {transport("self", 1, true), transport("sm", 0)};
  CHECK_FALSE(all_talk(job.answers));
  CHECK(up_line(job.job, job.answers) ==
        "4 ranks on 2 nodes, no messages yet, job ompi-1 (btlctl status)");
}
