// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/page_answer_test.cc -- the page of a member whose agent is at work: as
// read directly, and as sent to those who ask from other nodes.
#include "control/place/page_reader.h"
#include "job_of_fakes.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {

PageView page_of(const JobOfFakes& job, std::size_t index) {
  auto page = read_page(job.directory(), ::geteuid(), job.process(index));
  REQUIRE_MESSAGE(page, page.error().text);
  return *page;
}

Command ordered_by(const std::string& who) {
  Command command = JobOfFakes::command("switch", {"sm", "tcp"});
  command.by = who;
  return command;
}

}  // namespace

TEST_CASE("a member's page tells of a switch, who ordered it, and how it ended") {
  JobOfFakes job(2);
  job.add_members(2);
  CHECK(page_of(job, 0).switches.empty());
  auto links = job.links();
  const auto outcome = drive(links, ordered_by("root, in a test"), {}, {});
  REQUIRE(outcome);
  REQUIRE(outcome->code == ExitCode::kDone);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(eventually([&] { return !page_of(job, i).left_open; }));
    const PageView page = page_of(job, i);
    CHECK(page.job == "test");
    CHECK(page.messages_sent == 1);  // what the engine showed
    REQUIRE(page.switches.size() == 1);
    CHECK(page.switches[0].ordered_by == "root, in a test");
    CHECK(page.switches[0].end == SwitchEnd::kDone);
    CHECK(page.switches[0].rungs.size() == 3);
    CHECK(page.rung == Rung::kNew);
    CHECK(page.reached);
  }
}

TEST_CASE("while a rung is not reached, a page says for whom it waits") {
  JobOfFakes job(1);
  job.add_members(1);
  job.admin(0).hold(Rung::kNewTx);
  std::thread switching([&] { CHECK(job.run("switch", {"sm", "tcp"}).code == ExitCode::kDone); });
  CHECK(eventually([&] { return page_of(job, 0).waiting == "the test"; }));
  CHECK(page_of(job, 0).rung == Rung::kNewTx);
  CHECK_FALSE(page_of(job, 0).reached);
  job.admin(0).release();
  switching.join();
  const PageView page = page_of(job, 0);
  REQUIRE(page.switches.size() == 1);
  REQUIRE(page.switches[0].rungs.size() == 3);
  CHECK(page.switches[0].rungs[1].waited_for == "the test");
}

TEST_CASE("who asks a member for its page is told what stands in it") {
  JobOfFakes job(1);
  job.add_members(1);
  REQUIRE(job.run("switch", {"sm", "tcp"}).code == ExitCode::kDone);
  auto links = job.links();
  const MemberId member = links.found().live.at(0).member;
  std::optional<PageAnswer> told;
  CHECK(eventually([&] {
    links.send(member, PageRequest{"test"});
    while (const auto heard = links.receive(100 * kMillisecond)) {
      if (const auto* answer = std::get_if<PageAnswer>(&heard->message)) told = *answer;
    }
    return told.has_value();
  }));
  CHECK(told->page.member == member);
  CHECK(told->page.switches.size() == 1);
}
