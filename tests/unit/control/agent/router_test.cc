// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/router_test.cc -- what a member's router accepts, and which connections
// it keeps open: over real sockets, without agents.
#include "control/agent/router.h"

#include "control/wire/messages.h"
#include "control/wire/relay_talk.h"
#include "job_of_fakes.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {

constexpr ProcessId kMember{2};

JobFacts job_in(const std::string& directory) {
  JobFacts job;
  job.id = "test";
  job.directory = directory;
  return job;
}

Router router_of(const Scratch& scratch, ProcessId self) {
  auto router = Router::open(job_in(scratch.path()), self);
  REQUIRE(router);
  return std::move(*router);
}

std::size_t sockets(const Router& router) {
  std::vector<pollfd> fds;
  router.add_poll_fds(fds);
  return fds.size();
}

LocalLink caller_of(const Scratch& scratch, ProcessId member) {
  auto link = LocalLink::connect(socket_path(scratch.path(), member));
  REQUIRE(link);
  return std::move(*link);
}

}  // namespace

TEST_CASE("a member takes what is for itself, and passes nothing on") {
  const Scratch scratch;
  Router router = router_of(scratch, kMember);
  LocalLink caller = caller_of(scratch, kMember);
  for (const std::string& to : {std::string(), process_name(kMember)}) {
    REQUIRE(caller.send({.peer = "", .back = "way", .to = to, .body = "order"}));
    router.turn(0);
    const auto incoming = router.receive();
    REQUIRE(incoming);
    CHECK(incoming->body == "order");
    router.answer(incoming->from, "done");
    const auto answer = caller.receive();
    REQUIRE(answer);
    CHECK(answer->body == "done");
    CHECK(answer->back == "way");
    CHECK(answer->to == process_name(kMember));
  }
  for (const std::string& to : {process_name(ProcessId{9}),
                                format_route({"tcp://127.0.0.1:9", kMember}), std::string("x")}) {
    REQUIRE(caller.send({.peer = "", .back = "way", .to = to, .body = "order"}));
    CHECK_FALSE(router.receive());
    const auto answer = caller.receive();
    REQUIRE(answer);
    const auto message = decode(answer->body);
    CHECK((message && std::holds_alternative<ErrorAnswer>(*message)));
  }
}

TEST_CASE("what a helper says is no message, and its end is told") {
  const Scratch scratch;
  Router router = router_of(scratch, kMember);
  {
    LocalLink helper = caller_of(scratch, kMember);
    REQUIRE(
        helper.send({.peer = "", .back = "", .to = std::string(kFinisherNote), .body = "done"}));
    router.turn(0);
    CHECK_FALSE(router.receive());
  }
  CHECK_FALSE(router.receive());
  const auto said = router.next_note();
  REQUIRE(said);
  CHECK(said->body == "done");
  const auto gone = router.next_note();
  REQUIRE(gone);
  CHECK(gone->peer == said->peer);
  CHECK_FALSE(gone->body);
  CHECK_FALSE(router.next_note());
}

TEST_CASE("the end of a helper is told, however many others have come and gone") {
  const Scratch scratch;
  Router router = router_of(scratch, kMember);
  {
    LocalLink helper = caller_of(scratch, kMember);
    REQUIRE(helper.send({.peer = "", .back = "", .to = std::string(kFinisherNote), .body = ""}));
    router.turn(0);
    CHECK_FALSE(router.receive());
    REQUIRE(router.next_note());
    std::vector<LocalLink> others;
    for (int i = 0; i < 100; ++i) {
      others.push_back(caller_of(scratch, kMember));
      REQUIRE(others.back().send(
          {.peer = "", .back = "way", .to = process_name(kMember), .body = "order"}));
    }
    router.turn(0);
    for (int i = 0; i < 100; ++i) CHECK(router.receive());
  }
  CHECK_FALSE(router.receive());
  const auto gone = router.next_note();
  REQUIRE(gone);
  CHECK_FALSE(gone->body);
  CHECK_FALSE(router.next_note());
}

TEST_CASE(
    "questions keep a bounded number of connections open, and none when the search has ended") {
  const Scratch scratch;
  Router asking = router_of(scratch, ProcessId{1});
  std::vector<Router> asked;
  for (std::uint64_t i = 0; i < 70; ++i) {
    asked.push_back(router_of(scratch, ProcessId{100 + i}));
    asking.ask({"", ProcessId{100 + i}}, ProcessId{100 + i}, "where?");
  }
  CHECK(sockets(asking) == 1 + 64);
  asking.hang_up();
  CHECK(sockets(asking) == 1);
}
