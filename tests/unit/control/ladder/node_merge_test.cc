// SPDX-License-Identifier: BSD-3-Clause
// node_merge_test.cc -- a relay asks its members and passes on what they said: nothing that they
// did not say, nothing twice, who is missing, and nothing about members that were not asked.
#include "control/ladder/node_merge.h"

#include <doctest/doctest.h>

#include "standings.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {

using Actions = std::vector<MergeAction>;

template <class What>
std::vector<What> only(const Actions& actions) {
  std::vector<What> found;
  for (const MergeAction& action : actions)
    if (const auto* one = std::get_if<What>(&action)) found.push_back(*one);
  return found;
}

NodeStanding answer_in(const Actions& actions) {
  const auto told = only<ToClient>(actions);
  REQUIRE(told.size() == 1);
  return told[0].answer;
}

constexpr std::uint64_t kFirst = 1;  // session

}  // namespace

TEST_CASE("one question becomes one a member, and their answers one answer") {
  NodeMerge merge;
  const Actions asked = merge.ask("client", order_for(processes(1, 3)), 0);
  REQUIRE(only<ToMembers>(asked).size() == 1);
  CHECK(only<ToMembers>(asked)[0].members == processes(1, 3));
  CHECK(only<ToMembers>(asked)[0].request == Request(some_order()));
  CHECK(merge.heard(kFirst, standing_of(1, 5), 0).empty());
  CHECK(merge.heard(kFirst, standing_of(2, 5), 0).empty());
  const NodeStanding answer = answer_in(merge.heard(kFirst, standing_of(3, 9), 0));
  CHECK(told_in(answer) == std::vector{standing_of(1, 5), standing_of(2, 5), standing_of(3, 9)});
  CHECK(answer.asked == 3);
  CHECK(answer.answered == 3);
  CHECK(answer.missing.empty());
  CHECK(merge.wake_at() == INT64_MAX);
}

TEST_CASE("an answer that is not complete says who is missing, and claims nothing for them") {
  NodeMerge merge;
  merge.ask("client", order_for(processes(1, 40)), 0);
  merge.heard(kFirst, standing_of(7, 5), 1);
  CHECK(merge.turn(merge.wake_at() - 1).empty());
  const NodeStanding answer = answer_in(merge.turn(merge.wake_at()));
  CHECK(told_in(answer) == std::vector{standing_of(7, 5)});
  CHECK(answer.answered == 1);
  CHECK(answer.missing.size() == kMissingMax);
  CHECK(answer.missing.front() == ProcessId{1});
}

TEST_CASE("a relay whose members are all silent says so, once") {
  NodeMerge merge;
  merge.ask("client", order_for(processes(1, 2)), 0);
  const NodeStanding answer = answer_in(merge.turn(merge.wake_at()));
  CHECK(answer.groups.empty());
  CHECK(answer.missing == processes(1, 2));
  CHECK(merge.wake_at() == INT64_MAX);
}

TEST_CASE(
    "what a member says later is told onward: late answers, refusals, and that it goes back") {
  NodeMerge merge;
  merge.ask("client", order_for(processes(1, 2)), 0);
  merge.heard(kFirst, standing_of(1, 5), 0);
  Standing refuses = standing_of(2, 6);
  refuses.refused_seq = refuses.seq;
  refuses.report.refusal = "no device";
  refuses.reached = false;
  CHECK(told_in(answer_in(merge.heard(kFirst, refuses, 0))).back() == refuses);
  Standing lost = standing_of(1, 8);
  lost.reached = false;
  CHECK(told_in(answer_in(merge.heard(kFirst, lost, 0))) == std::vector{lost});
}

TEST_CASE("of two standings of a member the newer is told, whatever their order, and none twice") {
  NodeMerge merge;
  merge.ask("client", order_for(processes(1, 2)), 0);
  Standing old = standing_of(1, 4);
  old.reached = false;
  merge.heard(kFirst, standing_of(1, 5), 0);
  merge.heard(kFirst, old, 0);
  CHECK(told_in(answer_in(merge.heard(kFirst, standing_of(2, 1), 0)))[0] == standing_of(1, 5));
  CHECK(merge.heard(kFirst, standing_of(1, 5), 0).empty());
  CHECK(merge.heard(kFirst, old, 0).empty());
}

TEST_CASE("a question that is repeated is put again, and answered by what is said to it alone") {
  NodeMerge merge;
  merge.ask("client", order_for(processes(1, 1)), 0);
  merge.heard(kFirst, standing_of(1, 5), 0);
  const Actions again = merge.ask("client", order_for(processes(1, 1)), 1);
  REQUIRE(only<ToMembers>(again).size() == 1);
  CHECK(only<ToClient>(again).empty());  // it remembers what was said, but does not repeat it
  CHECK(told_in(answer_in(merge.heard(kFirst, standing_of(1, 6), 1))) ==
        std::vector{standing_of(1, 6)});
  CHECK(merge.sessions() == 1);
}

TEST_CASE("a member that has a question and takes its time is not asked ever more often") {
  NodeMerge merge;
  std::size_t put = 0;
  for (TimeNs now = 0; now < 3 * livebtl::kSecond; now += 100 * kMillisecond)
    put += only<ToMembers>(merge.ask("client", order_for(processes(1, 1)), now)).size();
  CHECK(put == 4);  // at 0, 0.2, 0.6 and 1.4 s: less than a lease apart
  const Order newer = some_order(4, Rung::kNew);
  const TimeNs now = 3 * livebtl::kSecond;
  CHECK(only<ToMembers>(merge.ask("client", order_for(processes(1, 1), newer), now)).size() == 1);
}

TEST_CASE("an answer to an older question is told as what it is, and the newer is still awaited") {
  NodeMerge merge;
  const Order newer = some_order(4, Rung::kNew);
  merge.ask("client", order_for(processes(1, 1)), 0);
  merge.ask("client", order_for(processes(1, 1), newer), 1);
  CHECK(merge.heard(kFirst, standing_of(1, 5), 1).empty());
  const NodeStanding early = answer_in(merge.turn(merge.wake_at()));
  CHECK(told_in(early) == std::vector{standing_of(1, 5)});
  CHECK(early.missing == processes(1, 1));
  CHECK(answer_in(merge.heard(kFirst, standing_of(1, 6, newer), 1)).answered == 1);
}

TEST_CASE("members that follow different coordinators are told apart") {
  NodeMerge merge;
  merge.ask("client", order_for(processes(1, 2)), 0);
  Order rival = some_order();
  rival.term.number = 9;
  merge.heard(kFirst, standing_of(1, 5), 0);
  const NodeStanding answer = answer_in(merge.heard(kFirst, standing_of(2, 5, rival), 0));
  CHECK(answer.groups.size() == 2);
  CHECK(told_in(answer)[1].term.number == 9);
}

TEST_CASE("two clients are told each what it asked for") {
  NodeMerge merge;
  merge.ask("one", order_for(processes(1, 1)), 0);
  merge.ask("two", order_for(processes(1, 1)), 0);
  const Actions actions = merge.heard(2, standing_of(1, 5), 0);
  REQUIRE(only<ToClient>(actions).size() == 1);
  CHECK(only<ToClient>(actions)[0].client == "two");
}

TEST_CASE("a member that is proved to have ended is told as gone, and not waited for") {
  NodeMerge merge;
  merge.ask("client", order_for(processes(1, 2)), 0);
  merge.heard(kFirst, standing_of(1, 5), 0);
  const NodeStanding answer = answer_in(merge.gone(kFirst, ProcessId{2}, 0));
  CHECK(answer.gone == processes(2, 1));
  CHECK(told_in(answer).size() == 1);
}

TEST_CASE("other relays are asked for their nodes, and their answers are one with those here") {
  NodeMerge merge;
  NodeRequest request = order_for(processes(1, 1));
  request.onward = {{"tcp://b:1", processes(11, 2)}, {"tcp://c:1", processes(21, 1)}};
  const auto onward = only<ToRelay>(merge.ask("client", request, 0));
  REQUIRE(onward.size() == 2);
  CHECK(onward[0].request.members == processes(11, 2));
  CHECK(onward[0].request.onward.empty());
  NodeMerge second;
  const std::string back = "the first";
  second.ask(back, onward[0].request, 0);
  second.heard(kFirst, standing_of(11, 3), 0);
  const NodeStanding from_b = answer_in(second.heard(kFirst, standing_of(12, 4), 0));
  CHECK(merge.heard(kFirst, onward[0].via, from_b, 0).empty());
  merge.heard(kFirst, standing_of(1, 5), 0);
  Grouping from_c;
  from_c.add({standing_of(21, 2), true}, true);
  const NodeStanding answer =
      answer_in(merge.heard(kFirst, onward[1].via, {1, 1, {}, {}, from_c.take()}, 0));
  CHECK(told_in(answer) ==
        std::vector{standing_of(1, 5), standing_of(11, 3), standing_of(12, 4), standing_of(21, 2)});
}

TEST_CASE("what nobody asked for is dropped: members, relays and sessions that are none") {
  NodeMerge merge;
  NodeRequest request = order_for(processes(1, 1));
  request.onward = {{"tcp://b:1", processes(11, 1)}};
  const auto onward = only<ToRelay>(merge.ask("client", request, 0));
  const auto by_relay = [&](std::uint64_t process, std::uint32_t via) {
    Grouping grouping;
    grouping.add({standing_of(process, 5), true}, true);
    return merge.heard(kFirst, via, {1, 1, {}, processes(process, 1), grouping.take()}, 0);
  };
  CHECK(merge.heard(kFirst, standing_of(77, 5), 0).empty());  // not asked
  CHECK(merge.heard(99, standing_of(1, 5), 0).empty());       // no such session
  CHECK(merge.heard(kFirst, standing_of(11, 5), 0).empty());  // of another node
  CHECK(by_relay(1, onward[0].via).empty());                  // another relay, about a member here
  CHECK(by_relay(11, onward[0].via + 1).empty());             // no such relay
  CHECK(by_relay(11, 0).empty());
  const NodeStanding answer = answer_in(merge.turn(merge.wake_at()));
  CHECK(answer.groups.empty());
  CHECK(answer.gone.empty());
  CHECK(answer.missing.size() == 2);
}

TEST_CASE("sessions and members are bounded") {
  NodeMerge merge;
  for (int i = 0; i < 200; ++i) merge.ask(std::to_string(i), order_for(processes(1, 1)), i);
  CHECK(merge.sessions() == 64);
  NodeMerge crowded;
  std::size_t put = 0;
  for (std::uint64_t i = 0; i < 100; ++i)
    put += crowded.ask("client", order_for(processes(1 + 1024 * i, 1024)), 0).size();
  CHECK(put == 64);
  NodeMerge idle;
  idle.ask("one", order_for(processes(1, 1)), 0);
  idle.ask("two", order_for(processes(1, 1)), 61 * livebtl::kSecond);
  CHECK(idle.sessions() == 1);
  idle.turn(122 * livebtl::kSecond);
  CHECK(idle.sessions() == 0);
}

TEST_CASE("the members of all sessions together are bounded, and the session asked last is kept") {
  NodeMerge merge;
  for (int client = 0; client < 4; ++client) {
    for (std::uint64_t i = 0; i < 32; ++i)
      merge.ask(std::to_string(client), order_for(processes(1 + 1024 * i, 1024)), client);
    CHECK(merge.members() <= 65'536);
  }
  CHECK(merge.sessions() == 2);
  CHECK(merge.knows(4));
}

TEST_CASE("a session has so many relays at most, and knows to which of them it put a question") {
  NodeMerge merge;
  std::vector<ToRelay> onward;
  for (int i = 0; i < 1100; ++i) {
    NodeRequest request = order_for(processes(1, 1));
    request.onward = {{"tcp://b:" + std::to_string(1 + i), processes(11, 1)}};
    for (ToRelay& one : only<ToRelay>(merge.ask("client", request, i))) onward.push_back(one);
  }
  CHECK(onward.size() == 1024);
  CHECK(merge.went_to(kFirst, onward[5].via, onward[5].relay));
  CHECK_FALSE(merge.went_to(kFirst, onward[5].via, onward[6].relay));
  CHECK_FALSE(merge.went_to(kFirst, 0, onward[0].relay));
  CHECK_FALSE(merge.went_to(99, onward[5].via, onward[5].relay));
}
