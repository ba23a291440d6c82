// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/descriptors_test.cc -- agents in processes that run out of descriptors.
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "control/agent/agent.h"
#include "job_of_fakes.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {

/// While it lives, `left` descriptors more can be opened.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t left) {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const int lowest = ::dup(STDERR_FILENO);
    REQUIRE(lowest >= 0);
    ::close(lowest);
    const rlimit few{static_cast<rlim_t>(lowest) + left, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  }
  ~FewDescriptors() { CHECK(::setrlimit(RLIMIT_NOFILE, &before_) == 0); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

/// Wakes the first agent until it has seen to it.
void wait_until(JobOfFakes& job, const std::function<bool()>& condition) {
  while (!condition()) {
    job.admin(0).release();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

TEST_CASE("a process that has hardly a descriptor left cannot be reached until it has") {
  JobOfFakes job(1);
  job.add_member();
  const std::string socket = socket_path(job.directory(), job.process(0));
  REQUIRE(std::filesystem::exists(socket));
  {
    const FewDescriptors few(8);
    wait_until(job, [&] { return !std::filesystem::exists(socket); });
  }
  wait_until(job, [&] { return std::filesystem::exists(socket); });
  CHECK(job.run("switch", {"sm", "tcp"}).code == ExitCode::kDone);
}

TEST_CASE("an agent does not start where descriptors are short, and says so") {
  JobOfFakes job(1);
  const auto facts = find_job(job.settings(), ProcessId{77});
  REQUIRE(facts);
  FakeAdmin admin;
  const FewDescriptors few(16);
  const auto agent = Agent::start(*facts, ProcessId{77}, admin);
  REQUIRE_FALSE(agent);
  CHECK(agent.error().text.find("ulimit -n") != std::string::npos);
}
