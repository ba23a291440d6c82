// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/doctor_test.cc -- `btlctl doctor` on the machine that the test runs on,
// whatever faults it has: the planted ones come on top.
#include <doctest/doctest.h>

#include <set>

#include "node_of_children.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

std::set<std::string> ids_in(const Answer& answer) {
  std::set<std::string> ids;
  const Json document = answer.json();
  CHECK(document["schema"] == "livebtl.doctor/1");
  CHECK(document["exit_code"] == answer.code);
  for (const auto& each : document["findings"]) {
    for (const char* part : {"kind", "what", "why", "do"})
      CHECK_FALSE(each[part].get<std::string>().empty());
    ids.insert(each["id"].get<std::string>());
  }
  return ids;
}

struct Planted {
  const char* id;
  const char* script;
};
constexpr Planted kPlanted[] = {
    {"settings", "LIVEBTL_CRC=sometimes btlctl --json doctor"},
    {"setting-unknown", "LIVEBTL_TRANSPORT=sm btlctl --json doctor"},
    {"secret", "LIVEBTL_SECRET_FILE=/nonexistent/secret btlctl --json doctor"},
    {"tcp-interface", "LIVEBTL_TCP_IF=nosuch0 btlctl --json doctor"},
    {"run-directory", "LIVEBTL_RUNDIR=/nonexistent/run btlctl --json doctor"},
    {"mca-environment", "OMPI_MCA_pml=ob1 btlctl --json doctor"},
    {"descriptors", "ulimit -n 200; btlctl --json doctor"},
    {"verbs-device", "LIVEBTL_VERBS_DEVICE=none0 btlctl --json doctor"},
    {"line-launcher", "btlctl --json doctor -- no-such-launcher -n 4 ./program"},
    {"line-usage", "btlctl --json doctor -- livebtl-run --shwo mpirun -n 4 ./program"},
    {"line-usage", "btlctl --json doctor -- btlctl vm migrate --domain vm1 --card hostdev0"},
    // This file comes before libvirt's own, and is not a library.
    {"vm-libvirt",
     "mkdir -p $LIVEBTL_RUNDIR/none; : >$LIVEBTL_RUNDIR/none/libvirt.so.0; "
     "LD_LIBRARY_PATH=$LIVEBTL_RUNDIR/none btlctl --json doctor -- btlctl vm migrate --domain vm1 "
     "--to qemu+ssh://node8/system --card hostdev0"},
    {"vm-daemon",
     "btlctl --json doctor -- btlctl --connect test:///default vm migrate --domain test --to "
     "'qemu+unix:///system?socket=/nowhere/libvirt-sock' --card hostdev0"},
    {"vm-daemon",
     "btlctl --json doctor -- btlctl vm snapshot monday --vm "
     "'vm1,domain=vm1,connect=qemu+unix:///system?socket=/nowhere/libvirt-sock'"},
};

}  // namespace

TEST_CASE("what is planted for real is named") {
  Node node;
  const auto before = ids_in(node.btlctl({"--json", "doctor"}));
  for (const Planted& each : kPlanted) {
    CHECK_MESSAGE(before.count(each.id) == 0, each.id);
    const Answer answer = node.shell(each.script);
    CHECK_MESSAGE(ids_in(answer).count(each.id) == 1, each.id);
    CHECK(answer.code == 3);
  }
}

TEST_CASE("a line of btlctl whose daemon answers, or that names no domain, is no fault") {
  Node node;
  for (const char* words :
       {"btlctl --connect test:///default vm restore monday --vm vm1,domain=test",
        "btlctl vm restore monday --vm vm1,qmp=1.qmp,ga=1.agent", "btlctl --json status"}) {
    const auto ids = ids_in(node.shell("btlctl --json doctor -- " + std::string(words)));
    CHECK_MESSAGE(ids.count("vm-daemon") + ids.count("vm-libvirt") + ids.count("line-usage") == 0,
                  words);
  }
}

TEST_CASE("people read the same, with what to do") {
  Node node;
  const Answer answer = node.shell("LIVEBTL_CRC=sometimes btlctl doctor");
  CHECK(answer.code == 3);
  CHECK(answer.out.find("fault settings: LIVEBTL_CRC cannot be \"sometimes\"") !=
        std::string::npos);
  CHECK(answer.out.find("  do:  btlctl settings") != std::string::npos);
  CHECK(answer.err.find("found") != std::string::npos);
}

TEST_CASE("a running job is looked at, too") {
  Node node;
  const auto one = node.member(0, "job", 2);
  CHECK(ids_in(node.btlctl({"--json", "doctor"})).count("job-missing") == 1);
  const auto two = node.member(1, "job", 2);
  const auto whole = ids_in(node.btlctl({"--json", "doctor"}));
  CHECK((whole.count("job-missing") == 0 && whole.count("job-silent") == 0));
  two->signal(SIGSTOP);
  CHECK(ids_in(node.btlctl({"--json", "--timeout", "1", "doctor"})).count("job-silent") == 1);
  two->signal(SIGCONT);
}

TEST_CASE("a look that is interrupted finds no faults") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  two->signal(SIGSTOP);
  const auto command = node.start({"--json", "--timeout", "60", "doctor"});
  ::usleep(2'000'000);  // until the job has been asked
  command->signal(SIGINT);
  CHECK(command->end() == 130);
  CHECK(Json::parse(command->out)["exit_code"] == 130);
  CHECK(command->out.find("job-silent") == std::string::npos);
}
