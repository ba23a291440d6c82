// SPDX-License-Identifier: BSD-3-Clause
// node_questions_test.cc -- which of a coordinator's questions go together to which relay, and
// about whom an answer is believed.
#include "control/ladder/node_questions.h"

#include <doctest/doctest.h>

#include "standings.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {

constexpr TimeNs kLater = 100 * kMillisecond;

/// Nodes 0, 1, ... have ten processes each: 10, ..., 19 are on node 1.
struct Job {
  explicit Job(std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i)
      relays.push_back("tcp://node" + std::to_string(100 + i) + ":1");
  }
  std::vector<Send> sends(const Request& request = some_order()) const {
    std::vector<Send> list;
    for (std::uint64_t i = 1; i < relays.size() * 10; ++i)
      list.push_back({{ProcessId{i}, Incarnation{1}}, request});
    return list;
  }
  std::vector<Question> put(const std::vector<Send>& list, TimeNs now = 0) {
    const auto relay_of = [this](MemberId member) -> const std::string* {
      const std::string& relay = relays.at(static_cast<std::uint64_t>(member.process) / 10);
      return relay.empty() ? nullptr : &relay;
    };
    return questions.put(list, relay_of, now);
  }
  NodeQuestions::Heard hear(std::size_t node, const std::vector<Standing>& standings,
                            bool described = true, std::vector<ProcessId> gone = {}) {
    Grouping grouping;
    for (const Standing& one : standings) grouping.add({one, true}, described);
    return questions.hear(relays[node], {1, 1, {}, std::move(gone), grouping.take()});
  }
  std::vector<std::string> relays;
  NodeQuestions questions;
};

const AskRelay& asked(const Question& question) { return std::get<AskRelay>(question); }

}  // namespace

TEST_CASE("a hundred nodes are asked by seven messages, and each member once") {
  Job job(100);
  const auto questions = job.put(job.sends());
  REQUIRE(questions.size() == 7);
  std::set<ProcessId> members;
  for (const Question& question : questions) {
    const NodeRequest& request = asked(question).request;
    CHECK(request.onward.size() < kRelayFanOut);
    members.insert(request.members.begin(), request.members.end());
    for (const NodeShare& share : request.onward)
      members.insert(share.members.begin(), share.members.end());
  }
  CHECK(members.size() == 999);
}

TEST_CASE("members without a relay that merges are asked themselves, as for a plan") {
  Job job(3);
  job.relays[1].clear();
  CHECK(job.put(job.sends()).size() == 10 + 1);
  CHECK(job.put(job.sends(PlanRequest{"job", {}})).size() == 29);
}

TEST_CASE("two different questions are two messages") {
  Job job(1);
  auto sends = job.sends();
  sends[4].request = PromiseRequest{"job", {4, 5}, false};
  const auto questions = job.put(sends);
  REQUIRE(questions.size() == 2);
  CHECK(asked(questions[1]).request.members == processes(5, 1));
}

TEST_CASE("a relay that kept silent is asked by itself, and passes nothing on, until it speaks") {
  Job job(4);
  CHECK(job.put(job.sends()).size() == 1);
  CHECK(job.questions.silent(job.relays[0], kLater));
  const auto again = job.put(job.sends(), kLater);
  REQUIRE(again.size() == 2);
  CHECK(asked(again[0]).relay == job.relays[0]);
  CHECK(asked(again[0]).request.onward.empty());
  CHECK(asked(again[1]).relay == job.relays[1]);
  CHECK(asked(again[1]).request.onward.size() == 2);
  job.hear(0, {});
  job.hear(1, {});
  CHECK_FALSE(job.questions.silent(job.relays[0], kLater));
  CHECK(job.put(job.sends(), 2 * kLater).size() == 1);
}

TEST_CASE("what never changes is asked for once, and filled in again") {
  Job job(1);
  CHECK(asked(job.put(job.sends())[0]).request.described);
  CHECK(job.hear(0, {standing_of(1, 5)}).standings == std::vector{standing_of(1, 5)});
  CHECK(asked(job.put(job.sends())[0]).request.described);  // others have not answered yet
  std::vector<Standing> rest;
  for (std::uint64_t i = 2; i < 10; ++i) rest.push_back(standing_of(i, 5));
  job.hear(0, rest);
  CHECK_FALSE(asked(job.put(job.sends())[0]).request.described);
  CHECK(job.hear(0, {standing_of(1, 6)}, false).standings == std::vector{standing_of(1, 6)});
}

TEST_CASE("a standing without a name of somebody unknown is not believed to have none") {
  Job job(1);
  job.put(job.sends());
  CHECK(job.hear(0, {standing_of(1, 5)}, false).standings.empty());
}

TEST_CASE("a relay is heard for members that were asked through it, and for no others") {
  Job job(20);
  job.put(job.sends());  // through relays 0 and 16
  CHECK(job.hear(0, {standing_of(1, 5), standing_of(155, 5)}).standings.size() == 2);
  CHECK(job.hear(0, {standing_of(165, 5)}).standings.empty());
  CHECK(job.hear(3, {standing_of(31, 5)}).standings.empty());
  CHECK(job.hear(0, {standing_of(999, 5)}).standings.empty());
  Standing restored = standing_of(1, 6);
  restored.member.incarnation = Incarnation{2};
  CHECK(job.hear(0, {restored}).standings.empty());
  CHECK(job.hear(0, {}, true, processes(165, 1)).gone.empty());
  CHECK(job.hear(0, {}, true, processes(1, 1)).gone.size() == 1);
}

TEST_CASE(
    "a question that is too long for one message goes by each relay, and then to each member") {
  Job job(3);
  const auto questions = job.put(job.sends());
  const auto apart = job.questions.apart(asked(questions[0]));
  REQUIRE(apart.size() == 3);
  CHECK(apart[2].request.members == processes(20, 10));
  CHECK(job.hear(2, {standing_of(21, 5)}).standings.size() == 1);
  CHECK(job.questions.apart(apart[2]).empty());
  const auto sends = job.questions.each_by_itself(apart[2]);
  REQUIRE(sends.size() == 10);
  CHECK(sends[3].to.process == ProcessId{23});
  CHECK(sends[3].request == Request(some_order()));
}

TEST_CASE("a node of more members than a list may have is asked in slices") {
  Job job(1);
  std::vector<Send> sends;
  for (std::uint64_t i = 1; i <= 2500; ++i)
    sends.push_back({{ProcessId{i}, Incarnation{1}}, Request(some_order())});
  const auto to_first = [&](MemberId) { return &job.relays[0]; };
  const auto questions = job.questions.put(sends, to_first, 0);
  REQUIRE(questions.size() == 3);
  CHECK(asked(questions[0]).request.members.size() == kGroupMax);
  CHECK(asked(questions[2]).request.members.size() == 452);
}
