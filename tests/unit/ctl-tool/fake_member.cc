// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/fake_member.cc -- a process with a real agent and a fake engine, for tests of
// the tool.
//
// usage: fake_member RANK [PEERS [BYTES]]. BYTES: what each of its transports has already sent.
// Settings from LIVEBTL_*. Prints "ready". Reads from standard input: "hold RUNG", "release",
// "refuse RUNG", "relay ENDPOINTS" (of another node); answers "ok"; ends at the end of the input.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "control/agent/agent.h"
#include "tests/unit/control/agent/fake_admin.h"

using namespace livebtl;

namespace {

core::Rung rung_of(const std::string& name) {
  if (name == "joint") return core::Rung::kJoint;
  if (name == "newtx") return core::Rung::kNewTx;
  return name == "new" ? core::Rung::kNew : core::Rung::kOld;
}

}  // namespace

int main(int argc, char** argv) {
  const auto settings = read_settings_from_environment();
  if (argc < 2 || !settings) return 1;
  const ProcessId process{random_u64() | 1};
  auto job = control::find_job(*settings, process);
  if (!job) {
    std::cerr << job.error().text << "\n";
    return 1;
  }
  job->rank = std::atoi(argv[1]);
  job->label = "rank " + std::string(argv[1]) + " on " + job->host;
  job->relay_path = LIVEBTL_RELAY_PROGRAM;
  test::FakeAdmin admin;
  admin.peers = argc > 2 ? std::stoul(argv[2]) : 3;
  admin.bytes_sent = argc > 3 ? std::stoul(argv[3]) : 0;
  const auto agent = control::Agent::start(*job, process, admin);
  if (!agent) {
    std::cerr << agent.error().text << "\n";
    return 1;
  }
  std::cout << "ready" << std::endl;
  std::string command, rung;
  while (std::cin >> command) {
    if (command == "release") {
      admin.release();
    } else if (std::cin >> rung) {
      if (command == "hold") admin.hold(rung_of(rung));
      if (command == "relay") admin.learn_relay(rung);
      if (command == "refuse") admin.refuse(rung_of(rung), "the test says no");
    }
    std::cout << "ok" << std::endl;
  }
  return 0;
}
