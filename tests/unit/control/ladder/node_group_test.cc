// SPDX-License-Identifier: BSD-3-Clause
// node_group_test.cc -- many standings in one answer: nothing is lost, what differs is not merged,
// what does not fit is refused, and a node's members fit into one message.
#include "control/ladder/node_group.h"

#include <doctest/doctest.h>

#include "control/wire/messages.h"
#include "standings.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {

NodeStanding answer_of(const std::vector<Standing>& standings, bool described = true) {
  Grouping grouping;
  for (const Standing& standing : standings) grouping.add({standing, true}, described);
  NodeStanding answer;
  answer.groups = grouping.take();
  return answer;
}

std::vector<Standing> all_alike(std::uint64_t count) {
  std::vector<Standing> list;
  for (std::uint64_t i = 1; i <= count; ++i) list.push_back(standing_of(i, 10 + i));
  return list;
}

}  // namespace

TEST_CASE("standings that differ in columns alone are one group, and come out as they went in") {
  std::vector<Standing> said = all_alike(100);
  said[3].report.waiting = {"marker of rank 9"};
  said[40].report.pairs = {"rank 7", "rank 8"};
  const NodeStanding answer = answer_of(said);
  CHECK(answer.groups.size() == 1);
  CHECK(told_in(answer) == said);
}

namespace {

using Change = void (*)(Standing&);
constexpr Change kChanges[] = {
    [](Standing& one) { one.term.number = 9; },
    [](Standing& one) { one.term.coordinator = 9; },
    [](Standing& one) { one.seq = 9; },
    [](Standing& one) { one.epoch = 9; },
    [](Standing& one) { one.rung = Rung::kNew; },
    [](Standing& one) { one.reached = false; },
    [](Standing& one) { one.undoing = true; },
    [](Standing& one) { one.joining = true; },
    [](Standing& one) { one.stale = true; },
    [](Standing& one) { one.busy = false; },
    [](Standing& one) { one.left_open = false; },
    [](Standing& one) { one.refused_seq = 9; },
    [](Standing& one) { one.operation.id = 9; },
    [](Standing& one) { one.routing.excluded = {"sm"}; },
    [](Standing& one) { one.report.refusal = "no device"; },
    [](Standing& one) { one.report.absent = {"verbs: no device"}; },
    [](Standing& one) { one.report.other_holders = {"verbs: 7"}; },
    [](Standing& one) { one.member.incarnation = Incarnation{2}; },
};

}  // namespace

TEST_CASE("nothing that decides a ladder is shared by members that said different things of it") {
  for (const Change change : kChanges) {
    for (const bool described : {true, false}) {
      std::vector<Standing> said = all_alike(3);
      change(said[1]);
      const NodeStanding answer = answer_of(said, described);
      REQUIRE(answer.groups.size() == 2);
      CHECK(answer.groups[0].members == std::vector{ProcessId{1}, ProcessId{3}});
    }
  }
}

TEST_CASE(
    "without description what never changes is left out, and members of several nodes share") {
  std::vector<Standing> said = all_alike(2);
  said[1].host = "node18";
  CHECK(answer_of(said, true).groups.size() == 2);
  const NodeStanding answer = answer_of(said, false);
  REQUIRE(answer.groups.size() == 1);
  CHECK(answer.groups[0].names.empty());
  CHECK(answer.groups[0].shared.transports.empty());
  CHECK_FALSE(answer.groups[0].described);
}

TEST_CASE(
    "a node of 256 members fits into one message, and 16 nodes of 100 do when they are known") {
  CHECK(encode_parts(answer_of(all_alike(256))).size() == 1);
  std::vector<Standing> many;
  for (std::uint64_t i = 0; i < 1600; ++i)
    many.push_back(standing_of(0xf000000000000000ULL + i, 100 + i));
  CHECK(encode_parts(answer_of(many, false)).size() == 1);
}

TEST_CASE("what is too long for one message goes in several, which together say all") {
  std::vector<Standing> said = all_alike(600);
  for (Standing& one : said) one.name = "rank " + std::string(200, 'x');
  for (std::size_t i = 0; i < said.size(); i += 50) said[i].report.waiting = {"a marker"};
  const auto texts = encode_parts(answer_of(said));
  REQUIRE(texts.size() > 1);
  std::vector<Standing> told;
  for (const std::string& text : texts) {
    const auto message = decode(text);
    REQUIRE_MESSAGE(message, (message ? "" : message.error().text));
    for (Standing& one : told_in(std::get<NodeStanding>(*message))) told.push_back(std::move(one));
  }
  std::sort(told.begin(), told.end(), [](auto& a, auto& b) { return a.member < b.member; });
  CHECK(told == said);
}

TEST_CASE("a group whose columns do not fit its members is refused") {
  using Spoil = void (*)(StandingGroup&);
  const Spoil changes[] = {
      [](StandingGroup& group) { group.members.clear(); },
      [](StandingGroup& group) { group.members.resize(kGroupMax + 1); },
      [](StandingGroup& group) { group.members[1] = group.members[0]; },
      [](StandingGroup& group) { group.members[1] = ProcessId{}; },
      [](StandingGroup& group) { group.versions.pop_back(); },
      [](StandingGroup& group) { group.versions.clear(); },
      [](StandingGroup& group) { group.ranks.push_back(1); },
      [](StandingGroup& group) { group.names.pop_back(); },
      [](StandingGroup& group) { group.pairs_moved.pop_back(); },
      [](StandingGroup& group) { group.pairs_left.push_back(1); },
      [](StandingGroup& group) {
        group.notes = {{3, {}, {}}};
      },
      [](StandingGroup& group) {
        group.notes = {{1, {}, {}}, {1, {}, {}}};
      },
      [](StandingGroup& group) { group.shared.member.process = ProcessId{1}; },
  };
  CHECK(check_group(answer_of(all_alike(3)).groups[0]) == "");
  for (const Spoil change : changes) {
    NodeStanding answer = answer_of(all_alike(3));
    change(answer.groups[0]);
    CHECK(check_group(answer.groups[0]) != "");
    const auto text = encode(answer);
    CHECK_FALSE((text && decode(*text)));
  }
}

TEST_CASE("a question to a node is the question that each member gets") {
  const Request questions[] = {StandingRequest{"job", true}, PromiseRequest{"job", {1, 3}, true},
                               some_order(), LadderEnd{"job", {1, 3}, true, 4}};
  for (const Request& question : questions) {
    auto request = node_request(question);
    REQUIRE(request);
    request->members = processes(1, 2);
    const auto message = decode(*encode(*request));
    REQUIRE_MESSAGE(message, (message ? "" : message.error().text));
    CHECK(request_of(std::get<NodeRequest>(*message)) == question);
  }
  CHECK_FALSE(node_request(PlanRequest{"job", {}}));
}

TEST_CASE("a question to nobody, by what is no relay, or without a term, is refused") {
  using Spoil = void (*)(NodeRequest&);
  const Spoil changes[] = {
      [](NodeRequest& request) { request.members.clear(); },
      [](NodeRequest& request) {
        request.onward = {{"sm", processes(1, 1)}};
      },
      [](NodeRequest& request) {
        request.onward.assign(kRelayFanOut, {"tcp://10.0.0.1:5", processes(1, 1)});
      },
      [](NodeRequest& request) {
        request.onward = {{"tcp://10.0.0.1:5", {}}};
      },
      [](NodeRequest& request) { request.order.seq = 0; },
      [](NodeRequest& request) { request.order.job = "no job"; },
      [](NodeRequest& request) {
        request.question = NodeQuestion::kPromise;
        request.order.term = {};
      },
  };
  CHECK(decode(*encode(order_for(processes(1, 2)))));
  for (const Spoil change : changes) {
    NodeRequest request = order_for(processes(1, 2));
    change(request);
    CHECK_FALSE(decode(*encode(request)));
  }
}
