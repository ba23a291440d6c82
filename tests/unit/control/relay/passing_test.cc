// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/relay/passing_test.cc -- what a relay keeps open, and whom it answers: over
// real sockets, without processes.
#include "control/relay/passing.h"

#include <set>

#include "control/agent/router.h"
#include "control/wire/relay_talk.h"
#include "tests/unit/control/agent/job_of_fakes.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {

constexpr ProcessId kMember{2};
constexpr std::uint64_t kPassingNode = 0xab;

std::string key_text(char digit) { return std::string(64, digit); }

/// A relay, a member behind it, and a client that commands the job through the relay.
struct PassingNode {
  PassingNode() {
    JobFacts job;
    job.id = "test";
    job.directory = scratch.path();
    auto opened = Passing::open({scratch.path(), kPassingNode, "test", 0, {"lo"}});
    REQUIRE(opened);
    relay.emplace(std::move(*opened));
    auto router = Router::open(job, kMember);
    REQUIRE(router);
    member.emplace(std::move(*router));
    caller.emplace(connect());
  }
  LocalLink connect() const {
    auto link = LocalLink::connect(relay_file(scratch.path(), kPassingNode, kRelaySocket));
    REQUIRE(link);
    return std::move(*link);
  }
  void turn(TimeNs now = 0) {
    relay->turn(now);
    member->turn(now);
  }
  /// Says hello as a member, and returns the relay's answer.
  Envelope greet(LocalLink& link, const std::string& secret) {
    const std::string body = process_name(kMember) + "\n" + secret;
    REQUIRE(link.send({.peer = "", .back = "", .to = std::string(kHelloNote), .body = body}));
    turn();
    auto answer = link.receive();
    REQUIRE(answer);
    return std::move(*answer);
  }
  /// Sends an order, which the member gets.
  Router::Incoming pass(TimeNs now = 0) {
    REQUIRE(
        caller->send({.peer = "", .back = "tag", .to = process_name(kMember), .body = "order"}));
    std::optional<Router::Incoming> incoming;
    CHECK(eventually([&] {
      turn(now);
      incoming = member->receive();
      return incoming.has_value();
    }));
    REQUIRE(incoming);
    return *incoming;
  }
  std::size_t sockets() const {
    std::vector<pollfd> fds;
    relay->add_poll_fds(fds);
    return fds.size();
  }
  Message ask_relay(const Message& question) {
    REQUIRE(caller->send({.peer = "", .back = "tag", .to = "", .body = *encode(question)}));
    turn();
    const auto answer = caller->receive();
    REQUIRE(answer);
    const auto message = decode(answer->body);
    REQUIRE(message);
    return *message;
  }
  Scratch scratch;
  std::optional<Passing> relay;
  std::optional<Router> member;
  std::optional<LocalLink> caller;
};

}  // namespace

TEST_CASE("an answer finds its way back through the relay") {
  PassingNode node;
  const auto incoming = node.pass();
  node.member->answer(incoming.from, "done");
  node.turn();
  const auto answer = node.caller->receive();
  REQUIRE(answer);
  CHECK(answer->body == "done");
  CHECK(answer->back == "tag");
  CHECK(answer->to == process_name(kMember));
}

TEST_CASE("what is passed on keeps its way open while it is used, and not for ever") {
  PassingNode node;
  node.pass();
  const std::size_t with_member = node.sockets();
  TimeNs now = 0;
  for (int i = 0; i < 10; ++i) {
    node.pass(now);
    now += Forwarders<LocalLink>::kIdle / 2;
    node.relay->turn(now);
    CHECK(node.sockets() == with_member);
  }
  for (int i = 0; i < 2 && node.relay->wake_at() < INT64_MAX; ++i)
    node.relay->turn(node.relay->wake_at());
  CHECK(node.sockets() == with_member - 1);
  CHECK(node.relay->wake_at() == INT64_MAX);
}

TEST_CASE("a relay begins with its first member, and takes others that hold the same secret") {
  PassingNode node;
  LocalLink first = node.connect(), second = node.connect(), other = node.connect();
  const Envelope told = node.greet(first, key_text('1'));
  CHECK(told.to == kRelaysNote);
  CHECK(valid_relay(told.body));
  CHECK(node.greet(second, key_text('1')).body == told.body);
  CHECK(node.greet(other, key_text('2')).to == kFailedNote);
  CHECK(node.greet(other, "no secret").to == kFailedNote);
  CHECK(node.greet(other, "").to == kFailedNote);
  CHECK(node.relay->members() == 2);
  { const LocalLink gone = std::move(first); }
  node.turn();
  CHECK(node.relay->members() == 1);
}

TEST_CASE("a relay says which members there are, of its own job, and answers nothing else") {
  PassingNode node;
  const auto list = node.ask_relay(MembersRequest{"", 0});
  const auto* members = std::get_if<MembersAnswer>(&list);
  REQUIRE(members != nullptr);
  CHECK(members->job == "test");
  for (const Message& refused :
       {Message(MembersRequest{"another", 0}), Message(SecretRequest{"test"})}) {
    const auto answer = node.ask_relay(refused);
    CHECK(std::holds_alternative<ErrorAnswer>(answer));
  }
}

TEST_CASE("what is for nobody on the node is refused") {
  PassingNode node;
  REQUIRE(node.caller->send(
      {.peer = "", .back = "tag", .to = process_name(ProcessId{77}), .body = "order"}));
  node.turn();
  const auto answer = node.caller->receive();
  REQUIRE(answer);
  const auto message = decode(answer->body);
  const auto* error = message ? std::get_if<ErrorAnswer>(&*message) : nullptr;
  REQUIRE(error != nullptr);
  CHECK(error->code == Errc::kUnreachable);
}

TEST_CASE("of one member so many answers are taken in a turn, and no more") {
  PassingNode node;
  const auto incoming = node.pass();
  for (int i = 0; i < 150; ++i) node.member->answer(incoming.from, "done");
  const auto taken = [&node] {
    int count = 0;
    while (node.caller->receive()) ++count;
    return count;
  };
  node.relay->turn(0);
  CHECK(taken() == 64);
  int rest = 0;
  CHECK(eventually([&] {
    node.turn();
    return (rest += taken()) == 86;
  }));
}

TEST_CASE("a relay that has heard of very many others answers all the same") {
  PassingNode node;
  auto from = node.pass().from;
  from.back = *push_return({2, "", ""});  // as if the relay had asked for what follows
  for (int part = 0; part < 3; ++part) {
    MembersAnswer told;
    told.job = "test";
    for (int i = 0; i < 170; ++i)
      told.relays.push_back("tcp://" + std::string(240, 'h') + ":" +
                            std::to_string(1 + 170 * part + i));
    node.member->answer(from, *encode(told));
  }
  std::set<std::string> known;
  CHECK(eventually([&] {
    const auto answer = node.ask_relay(MembersRequest{"", kNoMembers});
    const auto& relays = std::get<MembersAnswer>(answer).relays;
    known.insert(relays.begin(), relays.end());
    return known.size() == 510;
  }));
}

TEST_CASE("a relay that no member tells of any more is forgotten, and one that is told stays") {
  FellowRelays fellows;
  fellows.learn({"tcp://10.0.0.1:80", "tcp://10.0.0.2:80", "nonsense"});
  CHECK(fellows.list().size() == 2);
  for (std::uint64_t i = 0; i <= FellowRelays::kUntoldMax; ++i) {
    fellows.asked();
    fellows.learn({"tcp://10.0.0.2:80"});
  }
  CHECK(fellows.list() == std::vector<std::string>{"tcp://10.0.0.2:80"});
  for (int port = 1; port <= 1000; ++port)
    fellows.learn({"tcp://10.0.0.1:" + std::to_string(port)});
  CHECK(fellows.list().size() == FellowRelays::kMax);
}
