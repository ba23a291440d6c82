// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/relay/merging_test.cc -- a relay that puts one question to its node's members:
// over real sockets, then between agents, relays and a coordinator.
#include <signal.h>

#include "control/agent/router.h"
#include "control/relay/passing.h"
#include "control/wire/relay_talk.h"
#include "processes.h"
#include "tests/unit/control/agent/flooder.h"
#include "tests/unit/control/agent/two_nodes.h"
#include "tests/unit/control/ladder/standings.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {

constexpr std::uint64_t kNode = 0xab;
constexpr ProcessId kOne{2}, kTwo{3};

/// A relay, two members behind it, and a client.
struct Node {
  Node() {
    auto opened = Passing::open({scratch.path(), kNode, "job", 0, {"lo"}});
    REQUIRE(opened);
    relay.emplace(std::move(*opened));
    open(one, kOne);
    open(two, kTwo);
    auto link = LocalLink::connect(relay_file(scratch.path(), kNode, kRelaySocket));
    REQUIRE(link);
    client.emplace(std::move(*link));
  }
  void open(std::optional<Router>& member, ProcessId process) {
    JobFacts job;
    job.id = "job";
    job.directory = scratch.path();
    auto router = Router::open(job, process);
    REQUIRE(router);
    member.emplace(std::move(*router));
  }
  void turn() {
    relay->turn(monotonic_now());
    one->turn(0);
    two->turn(0);
  }
  void ask(const NodeRequest& request) {
    REQUIRE(client->send({.peer = "", .back = "tag", .to = "", .body = *encode(request)}));
  }
  Router::Incoming got(std::optional<Router>& member) {
    std::optional<Router::Incoming> incoming;
    CHECK(eventually([&] {
      turn();
      incoming = member->receive();
      return incoming.has_value();
    }));
    REQUIRE(incoming);
    return *incoming;
  }
  template <class What>
  What told() {
    std::optional<Envelope> envelope;
    CHECK(eventually([&] {
      turn();
      envelope = client->receive();
      return envelope.has_value();
    }));
    REQUIRE(envelope);
    CHECK(envelope->back == "tag");
    const auto message = decode(envelope->body);
    REQUIRE(message);
    REQUIRE(std::holds_alternative<What>(*message));
    return std::get<What>(*message);
  }
  Scratch scratch;
  std::optional<Passing> relay;
  std::optional<Router> one, two;
  std::optional<LocalLink> client;
};

std::string said_by(ProcessId process, std::uint64_t version) {
  return *encode(standing_of(static_cast<std::uint64_t>(process), version));
}

/// What a command sent, and how it ended.
struct Run {
  Outcome outcome;
  JobLinks::Sent sent;
};
Run run(const JobOfFakes& node) {
  auto links = node.links();
  const std::atomic<bool> stop{false};
  const auto outcome = drive(links, JobOfFakes::command("switch", {"sm", "tcp"}), {}, stop);
  REQUIRE(outcome);
  return {*outcome, links.sent()};
}

}  // namespace

TEST_CASE("each member of the node gets the order, and one answer brings what all have said") {
  Node node;
  node.ask(order_for({kOne, kTwo}));
  const auto first = node.got(node.one), second = node.got(node.two);
  for (const auto* incoming : {&first, &second}) CHECK(incoming->body == *encode(some_order()));
  node.one->answer(first.from, said_by(kOne, 5));
  node.two->answer(second.from, said_by(kTwo, 6));
  std::vector<Standing> told;
  while (told.size() < 2)  // on a slow machine they may come one after the other
    for (Standing& one : told_in(node.told<NodeStanding>())) told.push_back(std::move(one));
  CHECK(told == std::vector{standing_of(2, 5), standing_of(3, 6)});
}

TEST_CASE("a member answers for itself alone, and one that is not there is named as missing") {
  Node node;
  const ProcessId nobody{77};
  node.ask(order_for({kOne, kTwo, nobody}));
  const auto first = node.got(node.one);
  node.one->answer(first.from, said_by(kTwo, 5));    // in another's name
  node.one->answer(first.from, said_by(nobody, 5));  // in nobody's
  node.one->answer(first.from, "rubbish");
  node.one->answer(first.from, said_by(kOne, 6));
  std::vector<Standing> told;
  NodeStanding last;
  while (told.empty()) {
    last = node.told<NodeStanding>();
    told = told_in(last);
  }
  CHECK(told == std::vector{standing_of(2, 6)});
  CHECK(last.missing == std::vector{kTwo, nobody});
}

TEST_CASE("a question in another job's name, or one that is malformed, is refused") {
  Node node;
  Order order = some_order();
  order.job = "another";
  node.ask(order_for({kOne}, order));
  CHECK(node.told<ErrorAnswer>().code == Errc::kNotFound);
  node.ask(order_for({}));
  CHECK(node.told<ErrorAnswer>().code == Errc::kInvalid);
  CHECK_FALSE(node.one->receive());
}

TEST_CASE("way back that was tampered with leads nowhere") {
  Node node;
  node.ask(order_for({kOne}));
  auto incoming = node.got(node.one);
  const std::string back = incoming.from.back;
  for (const char* wrong : {"", "9 0", "1", "1 x", "-1 0", "1 0 0"}) {
    incoming.from.back = *push_return({3, wrong, ""});
    node.one->answer(incoming.from, said_by(kOne, 9));
  }
  incoming.from.back = back;
  node.one->answer(incoming.from, said_by(kOne, 5));
  std::vector<Standing> told;
  while (told.empty()) told = told_in(node.told<NodeStanding>());
  CHECK(told == std::vector{standing_of(2, 5)});
}

TEST_CASE("a coordinator asks relays, not members, on its own node and on others") {
  // Members are asked as well if a relay is slow to answer, as on a busy machine: not every time.
  CHECK(eventually([] {
    TwoNodes nodes;
    const Run done = run(*nodes.one);
    CHECK(done.outcome.code == ExitCode::kDone);
    CHECK(done.outcome.members == 4);
    CHECK(done.sent.to_relays > 0);
    CHECK(nodes.one->all_on(core::Rung::kNew));
    CHECK(nodes.two->all_on(core::Rung::kNew));
    return done.sent.to_members == 0;
  }));
}

TEST_CASE("a relay that is stopped keeps no command from the members of its node") {
  TwoNodes nodes;
  const auto relay = [&] { return helpers("relay", nodes.one->directory()); };
  REQUIRE(eventually([&] { return relay().size() == 1; }));
  const pid_t stopped = relay().front();
  auto links = nodes.one->links();
  REQUIRE(::kill(stopped, SIGSTOP) == 0);
  auto command = JobOfFakes::command("switch", {"sm", "tcp"});
  command.times.total = 6 * livebtl::kSecond;  // the other node cannot be reached
  const std::atomic<bool> stop{false};
  const auto outcome = drive(links, command, {}, stop);
  REQUIRE(::kill(stopped, SIGCONT) == 0);
  REQUIRE(outcome);
  CHECK(outcome->code == ExitCode::kRetracted);
  CHECK(links.sent().to_members > 0);
  CHECK(outcome->stragglers_total == 2);
  for (const Straggler& straggler : outcome->stragglers) CHECK(straggler.rank >= 2);
  CHECK(outcome->text.find("no relay answers at " + relay_of(*nodes.two)) != std::string::npos);
}

TEST_CASE("a member that speaks as the relay of its node is not believed") {
  TwoNodes nodes;
  NodeStanding lie;
  lie.gone = {Flooder::kProcess};
  for (std::size_t i = 0; i < 2; ++i) {
    lie.gone.push_back(nodes.one->process(i));
    lie.gone.push_back(nodes.two->process(i));
  }
  const Flooder liar(*nodes.one, -1, "node ", *encode(lie));
  auto links = nodes.one->links();
  auto command = JobOfFakes::command("switch", {"sm", "tcp"});
  command.times.total = 2 * livebtl::kSecond;
  const std::atomic<bool> stop{false};
  const auto outcome = drive(links, command, {}, stop);
  REQUIRE(outcome);
  CHECK(outcome->code != ExitCode::kNotFound);
}
