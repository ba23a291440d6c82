// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/relay/relay_test.cc -- several nodes: run directories that do not see each
// other, joined by relays over the loopback. The test carries what the engine would carry: relays'
// addresses.
#include <sys/socket.h>

#include "tests/unit/control/agent/two_nodes.h"

#include "base/random.h"
#include "control/place/job_secret.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;
using core::Rung;

TEST_CASE("the members of a node show its relay, and tell their engines") {
  TwoNodes nodes;
  const std::string relay = relay_of(*nodes.one);
  CHECK(valid_relay(relay));
  for (const auto& card : nodes.one->place().members.live) CHECK(card.relay == relay);
  for (std::size_t i = 0; i < 2; ++i) CHECK(nodes.one->admin(i).published() == relay);
}

TEST_CASE("a job of one node has a relay once a peer on another node was met") {
  Scratch keys;
  write_file(keys / "one", kKey);
  JobOfFakes job(1, "alpha", 0, keys / "one");
  job.add_member();
  CHECK(relay_of(job).empty());
  job.admin(0).meet_other_node();
  CHECK(eventually([&] { return valid_relay(relay_of(job)); }));
  CHECK(job.admin(0).published() == relay_of(job));
}

TEST_CASE(
    "a spawned process has a relay started if it finds nobody of its job on its node, and else "
    "not") {
  Scratch keys;
  write_file(keys / "one", kKey);
  JobOfFakes beside_parent(1, "alpha", 0, keys / "one");
  beside_parent.add_member();
  beside_parent.add_spawned_member();
  CHECK(relay_of(beside_parent).empty());
  CHECK(beside_parent.admin(1).published().empty());
  JobOfFakes elsewhere(1, "beta", 1, keys / "one");
  elsewhere.add_spawned_member();
  CHECK(valid_relay(relay_of(elsewhere)));
  CHECK(elsewhere.admin(0).published() == relay_of(elsewhere));
}

TEST_CASE("a switch reaches the members of both nodes, from either") {
  TwoNodes nodes;
  const auto there = nodes.one->run("switch", {"sm", "tcp"});
  CHECK(there.code == ExitCode::kDone);
  CHECK(there.members == 4);
  CHECK(nodes.two->all_on(Rung::kNew));
  const auto back = nodes.two->run("switch", {"tcp", "sm"});
  CHECK(back.code == ExitCode::kDone);
  CHECK(nodes.one->admin(0).last().after.moved.at("tcp") == "sm");
}

TEST_CASE("a process on another node is found through its relay, known here or to a fellow") {
  TwoNodes nodes;  // on the first node, only the second member knows the other relay
  const core::Contacts somewhere = {{"tcp", Blob(26, std::byte{1})}};
  for (std::size_t asked = 0; asked < 2; ++asked) nodes.two->admin(asked).listen_at(somewhere);
  for (std::size_t asker = 0; asker < 2; ++asker) {
    for (std::size_t asked = 0; asked < 2; ++asked) {
      const ProcessId wanted = nodes.two->process(asked);
      nodes.one->admin(asker).seek(wanted);
      CHECK(eventually([&] { return nodes.one->admin(asker).introduced(wanted) == somewhere; }));
    }
  }
}

TEST_CASE("a straggler on the other node is named") {
  TwoNodes nodes;
  nodes.two->admin(1).hold(Rung::kNewTx);
  auto command = JobOfFakes::command("switch", {"sm", "tcp"});
  command.times.rung = 500 * kMillisecond;
  const auto outcome = nodes.one->run(command);
  CHECK(outcome.code == ExitCode::kRetracted);
  REQUIRE(outcome.stragglers.size() == 1);
  CHECK(outcome.stragglers[0].name == "rank 3 on beta");
}

TEST_CASE("the relay stays as long as any member does") {
  TwoNodes nodes;
  const std::string before = relay_of(*nodes.two);
  nodes.two->remove_member(0);
  CHECK(relay_of(*nodes.two) == before);
  const auto outcome = nodes.one->run("switch", {"sm", "tcp"});
  CHECK(outcome.code == ExitCode::kDone);
  CHECK(outcome.members == 3);
}

TEST_CASE("a coordinator on the other node can be followed by one here") {
  TwoNodes nodes;
  auto links = nodes.two->links();
  std::atomic<bool> stop{false};
  const auto outcome = drive(
      links, JobOfFakes::command("switch", {"sm", "tcp"}),
      [&](const Progress& progress) {
        if (progress.rung == Rung::kNewTx) stop.store(true);
      },
      stop);
  CHECK_FALSE(outcome);
  CHECK(nodes.one->run("resume").code == ExitCode::kDone);
  CHECK(nodes.two->all_on(Rung::kNew));
}

TEST_CASE("a node with another secret cannot be reached, and nothing is ordered") {
  TwoNodes nodes(kOtherKey);
  auto command = JobOfFakes::command("switch", {"sm", "tcp"});
  command.times.total = 2 * kSecond;
  const auto outcome = nodes.one->run(command);
  CHECK(outcome.code == ExitCode::kMembersMissing);
  CHECK(outcome.missing_ranks == std::vector<int>{2, 3});
  CHECK(nodes.two->admin(0).orders().empty());
  CHECK(nodes.one->admin(0).orders().empty());
}

TEST_CASE("who does not hold the secret gets no answer from a relay") {
  TwoNodes nodes;
  auto context = make_zmq_context(16);
  REQUIRE(context);
  const std::string relay = relay_of(*nodes.two);
  const auto request = encode(MembersRequest{"test", 0});
  REQUIRE(request);
  std::array<std::byte, 32> wrong{};
  auto plain = ZmqSocket::connect(*context, relay, Secret());
  auto stranger = ZmqSocket::connect(*context, relay, Secret(wrong));
  REQUIRE(plain);
  REQUIRE(stranger);
  // Neither handshake ever completes, so nothing can be sent while a whole switch takes place.
  CHECK(nodes.one->run("switch", {"sm", "tcp"}).code == ExitCode::kDone);
  for (auto* socket : {&*plain, &*stranger}) {
    CHECK_FALSE(socket->send({.peer = "", .back = "", .to = "", .body = *request}));
    CHECK_FALSE(socket->receive());
  }
}

TEST_CASE("a relay passes messages on to other nodes only for those who hold the secret") {
  Scratch keys;
  write_file(keys / "one", kKey);
  for (const bool secret : {true, false}) {
    JobOfFakes job(4, "alpha", 0, secret ? keys / "one" : "", secret);
    job.add_members(2);
    auto context = make_zmq_context(16);
    auto socket = ZmqSocket::connect(*context, relay_of(job),
                                     secret ? *read_secret_file(keys / "one") : Secret());
    REQUIRE(socket);
    const auto request = encode(MembersRequest{"", 0});
    const std::string away = format_route({"tcp://127.0.0.1:9", ProcessId{}});
    CHECK(eventually(
        [&] { return socket->send({.peer = "", .back = "tag", .to = away, .body = *request}); }));
    std::optional<Envelope> answer;
    CHECK(eventually([&] { return (answer = socket->receive()).has_value(); }));
    CHECK(answer->back == "tag");
    const auto message = decode(answer->body);
    const auto* error = message ? std::get_if<ErrorAnswer>(&*message) : nullptr;
    REQUIRE(error != nullptr);
    CHECK(error->text.find(secret ? "cannot pass the message" : "without auth") !=
          std::string::npos);
  }
}

TEST_CASE("from outside one relay leads to all nodes") {
  TwoNodes nodes;
  const std::atomic<bool> stop{false};
  const std::string relay = relay_of(*nodes.one);
  const auto secret = read_secret_file(nodes.keys / "one");
  REQUIRE(secret);
  const Deadline deadline{monotonic_now() + 20 * kSecond, &stop};
  auto links = JobLinks::connect({"one", relay, *secret}, "", deadline);
  REQUIRE(links);
  CHECK(links->job() == "test");
  const auto outcome = drive(*links, JobOfFakes::command("switch", {"sm", "tcp"}), {}, stop);
  REQUIRE(outcome);
  CHECK(outcome->code == ExitCode::kDone);
  CHECK(outcome->members == 4);
  CHECK(nodes.two->all_on(Rung::kNew));
  nodes.two->remove_member(1);
  CHECK(eventually([&] { return links->scan().live.size() == 3; }));
  const auto other = JobLinks::connect({"one", relay, *secret}, "another", deadline);
  REQUIRE_FALSE(other);
  CHECK(other.error().code == Errc::kNotFound);
}

TEST_CASE(
    "rubbish sent to a member's socket harms nobody, and ends its sender if it is no packet of "
    "ours") {
  JobOfFakes job(1);
  job.add_member();
  const std::string path = socket_path(job.directory(), job.process(0));
  auto link = LocalLink::connect(path);
  REQUIRE(link);
  Random chance(7);
  for (int i = 0; i < 200; ++i) {
    std::string bytes(1 + chance.below(200), '\0');
    for (char& c : bytes) c = static_cast<char>(chance.next());
    link->send({.peer = "", .back = bytes, .to = i % 2 == 0 ? "" : bytes, .body = bytes});
    if (i % 10 != 0) continue;
    auto raw = LocalLink::connect(path);
    REQUIRE(raw);
    REQUIRE(::send(raw->fd(), "\xff", 1, MSG_NOSIGNAL) == 1);
    CHECK(eventually([&] {
      raw->receive();
      return raw->closed();
    }));
  }
  CHECK(job.run("switch", {"sm", "tcp"}).code == ExitCode::kDone);
}
