// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/flood_test.cc -- commands that end although a member talks without end.
#include <atomic>
#include <string>
#include <vector>

#include "ctl-tool/ask.h"
#include "flooder.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {

std::vector<std::string> floods() {
  return {"no message", *encode(MembersAnswer{"test", 0, 0, true, {}, {}, false}),
          *encode(ErrorAnswer{Errc::kInvalid, "no"})};
}

}  // namespace

TEST_CASE("a command ends at its time-out, whatever a member says without end") {
  for (const std::string& body : floods()) {
    CAPTURE(body);
    JobOfFakes job(2);
    job.add_member();
    const Flooder flooder(job, 1, "", body);
    auto command = JobOfFakes::command("switch", {"sm", "tcp"});
    command.times.total = kSecond;
    const auto outcome = job.run(command);
    CHECK(outcome.code != ExitCode::kDone);
    CHECK(job.admin(0).orders().empty());
  }
}

TEST_CASE("a question to any member ends at its time-out, whatever a member says without end") {
  for (const std::string& body : floods()) {
    CAPTURE(body);
    JobOfFakes job(2);
    job.add_member();
    const Flooder flooder(job, 1, "", body);
    auto links = job.links();
    const std::atomic<bool> stop{false};
    tool::Asker<PlanAnswer> asker(links, kSecond, stop);
    CHECK_FALSE(asker.ask_any(ListRequest{"test"}));
  }
}
