// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/client/remote_members_test.cc -- what is known about other nodes, without a
// socket: routes, and the pages of members with which relays answer.
#include "control/client/remote_members.h"

#include <doctest/doctest.h>

#include "control/wire/route.h"

using namespace livebtl;
using namespace livebtl::control;

namespace {

MemberEntry entry(std::uint64_t process, bool gone = false) {
  return {{ProcessId{process}, Incarnation{1}}, "p" + std::to_string(process), -1, "n", gone};
}
MembersAnswer page(std::uint32_t offset, std::uint32_t total, std::vector<MemberEntry> members) {
  MembersAnswer answer;
  answer.offset = offset;
  answer.total = total;
  answer.members = std::move(members);
  return answer;
}

struct Known {
  std::size_t live = 0, gone = 0;
};
Known known(const RemoteMembers& remote) {
  std::vector<MemberEntry> live, gone;
  remote.add_to(live, gone);
  return {live.size(), gone.size()};
}

}  // namespace

TEST_CASE("routes and ways back survive the round trip; malformed ones are refused") {
  for (const Route& route :
       {Route{}, Route{"", ProcessId{7}}, Route{"tcp://10.0.0.1:80", ProcessId{7}},
        Route{"tcp://[fd00::1]:80,tcp://h-1.x:9", ProcessId{}}}) {
    const auto parsed = parse_route(format_route(route));
    REQUIRE(parsed);
    CHECK(*parsed == route);
  }
  for (const char* bad : {"x", "0", "000000000000000G", "tcp://h:1", "tcp://h:0 ", "tcp://h:70000 ",
                          "tcp://:1 ", "ipc:///tmp/x ", "tcp://h:1, ", "tcp://a b:1 ",
                          "tcp://h:1,tcp://h:1,tcp://h:1,tcp://h:1,tcp://h:1 "}) {
    CHECK_FALSE(parse_route(bad));
  }
  const Return from{1, "peer", "back"};
  const auto pushed = push_return(from);
  REQUIRE(pushed);
  const auto popped = pop_return(*pushed);
  REQUIRE(popped);
  CHECK(popped->listener == 1);
  CHECK(popped->peer == "peer");
  CHECK(popped->back == "back");
  CHECK_FALSE(push_return({0, std::string(256, 'p'), ""}));
  CHECK_FALSE(push_return({0, "p", std::string(512, 'b')}));
  CHECK_FALSE(pop_return(""));
  CHECK_FALSE(
      pop_return(std::string("\0\x05"
                             "abc",
                             5)));
}

TEST_CASE("a relay's pages make a node; who vanishes from a whole one has left") {
  RemoteMembers remote;
  const std::string relay = "tcp://10.0.0.1:80";
  remote.learn({relay, "nonsense"});
  remote.begin_round(0);
  auto questions = remote.take_questions();
  REQUIRE(questions.size() == 1);
  remote.answer(questions[0].tag, page(0, 3, {entry(1), entry(2)}));
  questions = remote.take_questions();
  REQUIRE(questions.size() == 1);
  CHECK(questions[0].offset == 2);
  CHECK_FALSE(remote.round_complete());
  remote.answer(questions[0].tag, page(2, 3, {entry(3)}));
  CHECK(remote.round_complete());
  CHECK(known(remote).live == 3);
  CHECK(*remote.relay_of(ProcessId{2}) == relay);
  remote.begin_round(1);
  auto partial = page(0, 1, {entry(1)});
  partial.complete = false;
  remote.answer(remote.take_questions()[0].tag, partial);
  CHECK(known(remote).live == 3);
  remote.begin_round(2);
  remote.answer(remote.take_questions()[0].tag, page(0, 2, {entry(1), entry(2, true)}));
  CHECK(known(remote).live == 1);
  CHECK(known(remote).gone == 2);
}

namespace {

/// Two relays, each with a process of the same id; the first relay comes first in every sort order.
struct TwoRelays {
  static constexpr const char* kOld = "tcp://10.0.0.2:1";
  static constexpr const char* kNew = "tcp://10.0.0.7:1";
  TwoRelays() { remote.learn({kOld, kNew}); }
  void hear(const MemberEntry& old_one, const MemberEntry& new_one) {
    remote.begin_round(0);
    for (const auto& question : remote.take_questions()) {
      MembersAnswer answer = page(0, 1, {question.relay == kOld ? old_one : new_one});
      answer.merges = true;
      remote.answer(question.tag, answer);
    }
  }
  std::string relay() const {
    const std::string* found = remote.relay_of(ProcessId{1});
    return found == nullptr ? "" : *found;
  }
  RemoteMembers remote;
};

MemberEntry copy_of(std::uint64_t process, bool gone = false) {
  MemberEntry copy = entry(process, gone);
  copy.left_behind = true;
  return copy;
}

}  // namespace

TEST_CASE("a copy that was left behind gives way to the process itself, whatever becomes of it") {
  TwoRelays two;
  two.hear(copy_of(1), entry(2));
  CHECK(two.relay() == TwoRelays::kOld);  // the user who gives orders there is told
  two.hear(copy_of(1), entry(1));
  CHECK(two.relay() == TwoRelays::kNew);
  CHECK(two.remote.merging().at(ProcessId{1}) == TwoRelays::kNew);
  const auto counted = known(two.remote).live;
  for (const MemberEntry& ended : {copy_of(1, true), entry(1, true)}) {
    two.hear(ended, entry(1));
    CHECK(known(two.remote).live == counted);
    CHECK(two.relay() == TwoRelays::kNew);
  }
}

TEST_CASE("of two processes of one id that of the relay counts which the user has named") {
  TwoRelays two;
  two.hear(entry(1), entry(1));
  CHECK(two.relay() == TwoRelays::kOld);
  two.remote.learn_named({TwoRelays::kNew});
  CHECK(two.relay() == TwoRelays::kNew);
  CHECK(two.remote.merging().at(ProcessId{1}) == TwoRelays::kNew);
  CHECK(known(two.remote).live == 1);
}

TEST_CASE("a silent relay is asked again but not waited for, and what is known of it stays") {
  RemoteMembers remote;
  remote.learn({"tcp://10.0.0.1:80"});
  remote.begin_round(0);
  remote.answer(remote.take_questions()[0].tag, page(0, 1, {entry(1)}));
  remote.begin_round(1);
  const auto unanswered = remote.take_questions();
  REQUIRE(unanswered.size() == 1);
  remote.end_round(1);
  remote.begin_round(2);
  CHECK(remote.round_complete());
  CHECK(remote.take_questions().size() == 1);
  CHECK(known(remote).live == 1);
  // The answer to the earlier round shows that it speaks again, but does not count for this scan.
  remote.answer(unanswered[0].tag, page(0, 2, {entry(1), entry(2)}));
  CHECK(known(remote).live == 1);
  remote.begin_round(3);
  CHECK_FALSE(remote.round_complete());
  remote.answer(remote.take_questions()[0].tag, page(0, 2, {entry(1), entry(2)}));
  CHECK(remote.round_complete());
  CHECK(known(remote).live == 2);
}

TEST_CASE("a relay that always answers too late is known all the same") {
  RemoteMembers remote;
  remote.learn({"tcp://10.0.0.1:80"});
  remote.begin_round(0);
  const auto late = remote.take_questions();
  REQUIRE(late.size() == 1);
  remote.end_round(1);
  remote.begin_round(2);
  remote.answer(late[0].tag, page(0, 3, {entry(1), entry(2)}));  // incomplete
  remote.answer(late[0].tag, page(1, 3, {entry(1), entry(2)}));
  CHECK(known(remote).live == 0);
  remote.answer(late[0].tag, page(0, 2, {entry(1), entry(2)}));
  CHECK(known(remote).live == 2);
  CHECK(remote.relay_of(entry(1).member.process) != nullptr);
  remote.answer(late[0].tag, page(0, 1, {entry(3)}));  // it does not overwrite what is known
  CHECK(known(remote).live == 2);
}

TEST_CASE("a relay whose question was lost is asked once more in the same round") {
  RemoteMembers remote;
  remote.learn({"tcp://10.0.0.1:80"});
  remote.begin_round(0);
  const auto first = remote.take_questions();
  REQUIRE(first.size() == 1);
  CHECK(remote.take_questions().empty());
  remote.ask_again();
  const auto second = remote.take_questions();
  REQUIRE(second.size() == 1);
  remote.answer(second[0].tag, page(0, 1, {entry(1)}));
  remote.answer(first[0].tag, page(0, 1, {entry(1)}));  // it was slow, not lost
  CHECK(remote.round_complete());
  remote.ask_again();
  CHECK(remote.take_questions().empty());
  for (const char* rubbish : {"", " ", "x", "1 tcp://no:1", "99999999999999999999999 "}) {
    remote.answer(rubbish, page(0, 1, {entry(2)}));
  }
  CHECK(known(remote).live == 1);
}

TEST_CASE("a relay that names others who have gone in each round is not believed for ever") {
  RemoteMembers remote;
  remote.learn({"tcp://10.0.0.1:80"});
  for (TimeNs round = 0; round < 20; ++round) {
    std::vector<MemberEntry> gone;
    for (std::uint64_t i = 1; i <= 1000; ++i)
      gone.push_back(entry(static_cast<std::uint64_t>(round) * 1000 + i, true));
    remote.begin_round(round);
    remote.answer(remote.take_questions()[0].tag, page(0, 1000, gone));
    CHECK(remote.round_complete());
  }
  CHECK(known(remote).gone == 16'384);
}

TEST_CASE("... nor one that names others who live in each round, and never tells all") {
  RemoteMembers remote;
  remote.learn({"tcp://10.0.0.1:80"});
  for (std::uint64_t round = 0; round < 3; ++round) {
    std::vector<MemberEntry> living;
    for (std::uint64_t i = 1; i <= 30'000; ++i) living.push_back(entry(round * 30'000 + i));
    auto some = page(0, 30'000, std::move(living));
    some.complete = false;
    remote.begin_round(static_cast<TimeNs>(round));
    remote.answer(remote.take_questions()[0].tag, some);
    CHECK(remote.round_complete());
  }
  CHECK(known(remote).live == 65'536);
}
