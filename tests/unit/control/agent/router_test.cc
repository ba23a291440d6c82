// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/router_test.cc -- what a member's router keeps open, for whom and for how
// long: routers over real sockets, without agents. Nobody listens at the relays that are asked.
#include "control/agent/router.h"

#include <unistd.h>

#include "job_of_fakes.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {

constexpr ProcessId kRelaying{1};
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

/// A client that commands the job: sends envelopes to one member by way of another.
class Caller {
 public:
  explicit Caller(const Scratch& scratch) {
    auto made = make_zmq_context(4);
    REQUIRE(made);
    context_ = std::make_unique<zmq::context_t>(std::move(*made));
    auto socket =
        ZmqSocket::connect(*context_, "ipc://" + socket_path(scratch.path(), kRelaying), Secret());
    REQUIRE(socket);
    socket_.emplace(std::move(*socket));
  }
  void send(const std::string& body) {
    const Envelope envelope{.peer = "", .back = "", .to = process_name(kMember), .body = body};
    REQUIRE(socket_->send(envelope));
  }
  std::optional<Envelope> receive() { return socket_->receive(); }

 private:
  std::unique_ptr<zmq::context_t> context_;  // before its socket
  std::optional<ZmqSocket> socket_;
};

/// A relay, a member behind it, and an envelope that has come through.
struct Passed {
  Passed() {
    caller.send("order");
    CHECK(eventually([&] {
      relaying.receive();
      envelope = member.receive();
      return envelope.has_value();
    }));
    REQUIRE(envelope);
  }
  /// Asks relays that are not there by way of the relay itself.
  void ask(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string host = std::to_string(i / 200) + "." + std::to_string(i % 200 + 1);
      const std::string relay = "tcp://127.0." + host + ":9";
      relaying.ask({relay, ProcessId{7}}, ProcessId{7}, "where?");
    }
  }
  Scratch scratch;
  Router relaying = router_of(scratch, kRelaying);
  Router member = router_of(scratch, kMember);
  Caller caller{scratch};
  std::optional<Router::Incoming> envelope;
};

}  // namespace

TEST_CASE("however many relays are asked, the way of an envelope that was passed on stays open") {
  Passed passed;
  passed.ask(300);
  passed.member.answer(passed.envelope->from, "done");
  std::optional<Envelope> answer;
  CHECK(eventually([&] {
    passed.relaying.receive();
    answer = passed.caller.receive();
    return answer.has_value();
  }));
  REQUIRE(answer);
  CHECK(answer->body == "done");
}

TEST_CASE("questions keep a bounded number of sockets open, and none when the search has ended") {
  Passed passed;
  const std::size_t before = sockets(passed.relaying);
  passed.ask(300);
  CHECK(sockets(passed.relaying) > before);
  CHECK(sockets(passed.relaying) <= before + 64);
  passed.relaying.hang_up();
  CHECK(sockets(passed.relaying) == before);
}

TEST_CASE("what is passed on keeps its way open while it is used, and not for ever") {
  Passed passed;
  const std::size_t with_member = sockets(passed.relaying);
  TimeNs now = 0;
  for (int i = 0; i < 10; ++i) {
    passed.caller.send("again");
    CHECK(eventually([&] {
      passed.relaying.receive();
      return passed.member.receive().has_value();
    }));
    now += Forwarders::kIdle / 2;
    passed.relaying.turn(now);
    CHECK(sockets(passed.relaying) == with_member);
  }
  for (int i = 0; i < 2; ++i) {
    now = passed.relaying.wake_at();
    REQUIRE(now < INT64_MAX);
    passed.relaying.turn(now);
  }
  CHECK(sockets(passed.relaying) == with_member - 1);
  CHECK(passed.relaying.wake_at() == INT64_MAX);
}
