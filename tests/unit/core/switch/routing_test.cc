// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/switch/routing_test.cc -- which transport a pair uses, for each command of
// btlctl.
#include "core/switch/routing.h"

#include <doctest/doctest.h>

#include "base/random.h"

using namespace livebtl;
using namespace livebtl::core;

namespace {
const std::vector<Candidate> kAll = {{"tcp", 10}, {"sm", 30}, {"verbs", 20}};
using Names = std::vector<std::string>;
}  // namespace

TEST_CASE("with nothing decided the highest exclusivity is used, the others stand by") {
  CHECK(choose(Routing{}, kAll) == "sm");
  CHECK(permitted(Routing{}, kAll) == Names{"sm", "verbs", "tcp"});
}

TEST_CASE("equal exclusivity is decided by name, the same on both ends") {
  const std::vector<Candidate> one = {{"b", 5}, {"a", 5}};
  const std::vector<Candidate> other = {{"a", 5}, {"b", 5}};
  CHECK(choose(Routing{}, one) == "a");
  CHECK(choose(Routing{}, other) == "a");
}

TEST_CASE("excluded and quiesced transports are not used, not for fail-over either") {
  Routing routing;
  routing.excluded = {"sm"};
  routing.quiesced = {"verbs"};
  CHECK(permitted(routing, kAll) == Names{"tcp"});
  routing.quiesced.insert("tcp");
  CHECK_FALSE(choose(routing, kAll));
  CHECK(permitted(routing, kAll).empty());
  CHECK(connectable(routing, kAll) == Names{"tcp", "verbs"});
  CHECK_FALSE(choose(Routing{}, {}));
}

TEST_CASE("switch moves the pairs that use FROM and reach TO, and no others") {
  Routing routing;
  routing.moved = {{"sm", "tcp"}};
  CHECK(choose(routing, kAll) == "tcp");
  CHECK(permitted(routing, kAll) == Names{"tcp", "verbs"});
  const std::vector<Candidate> without_tcp = {{"sm", 30}, {"verbs", 20}};
  CHECK(choose(routing, without_tcp) == "sm");
  const std::vector<Candidate> without_sm = {{"tcp", 10}, {"verbs", 20}};
  CHECK(choose(routing, without_sm) == "verbs");
}

TEST_CASE("a move onto an excluded or quiesced transport does not happen") {
  Routing routing;
  routing.moved = {{"sm", "tcp"}};
  routing.excluded = {"tcp"};
  CHECK(choose(routing, kAll) == "sm");
  routing.excluded.clear();
  routing.quiesced = {"tcp"};
  CHECK(choose(routing, kAll) == "sm");
}

TEST_CASE("moves are followed to their end, and a circle moves nothing") {
  Routing routing;
  routing.moved = {{"sm", "verbs"}, {"verbs", "tcp"}};
  CHECK(choose(routing, kAll) == "tcp");
  CHECK(permitted(routing, kAll) == Names{"tcp"});
  routing.moved["tcp"] = "sm";
  CHECK(choose(routing, kAll) == "sm");
  CHECK(permitted(routing, kAll) == Names{"sm", "verbs", "tcp"});
}

TEST_CASE("tuned exclusivity decides instead of the default") {
  Routing routing;
  routing.tuning["tcp"].exclusivity = 99;
  routing.tuning["sm"].weight = 3;
  CHECK(permitted(routing, kAll) == Names{"tcp", "sm", "verbs"});
}

TEST_CASE("a pair obeys the rules of the nodes that it touches, alike at both ends") {
  Routing routing;
  routing.nodes["a"].excluded = {"sm"};
  routing.nodes["b"].quiesced = {"verbs"};
  CHECK(choose(RoutingView(routing, "c", "c"), kAll) == "sm");
  CHECK(choose(RoutingView(routing, "c", "a"), kAll) == "verbs");
  CHECK(permitted(RoutingView(routing, "a", "b"), kAll) == Names{"tcp"});
  CHECK(permitted(RoutingView(routing, "b", "a"), kAll) == Names{"tcp"});
  CHECK(connectable(RoutingView(routing, "b"), kAll) == Names{"tcp", "sm", "verbs"});
  CHECK(choose(RoutingView(routing, "a", ""), kAll) == "verbs");  // node not known yet: no rules
  CHECK(choose(routing, kAll) == "sm");
}

TEST_CASE(
    "where a node rules about a move, the job's rule is not asked; of two nodes the first by "
    "name") {
  Routing routing;
  routing.moved = {{"sm", "tcp"}};
  routing.nodes["a"].moved = {{"sm", "sm"}};
  routing.nodes["b"].moved = {{"sm", "verbs"}};
  CHECK(choose(RoutingView(routing, "a", "a"), kAll) == "sm");
  CHECK(choose(RoutingView(routing, "b", "c"), kAll) == "verbs");
  CHECK(choose(RoutingView(routing, "a", "b"), kAll) == "sm");
  CHECK(choose(RoutingView(routing, "b", "a"), kAll) == "sm");
}

TEST_CASE(
    "choose is always the first permitted, whatever the routing, in any order of candidates") {
  Random random(9);
  const Names names = {"a", "b", "c", "d"};
  for (int round = 0; round < 5000; ++round) {
    Routing routing;
    std::vector<Candidate> reachable;
    for (const std::string& name : names) {
      if (random.chance(0.2)) routing.excluded.insert(name);
      if (random.chance(0.2)) routing.quiesced.insert(name);
      if (random.chance(0.4)) routing.moved[name] = names[random.below(names.size())];
      if (random.chance(0.3))
        routing.tuning[name].exclusivity = static_cast<std::uint32_t>(random.below(3));
      if (random.chance(0.8))
        reachable.push_back({name, static_cast<std::uint32_t>(random.below(3))});
    }
    const Names forward = permitted(routing, reachable);
    std::reverse(reachable.begin(), reachable.end());
    REQUIRE(permitted(routing, reachable) == forward);
    const auto chosen = choose(routing, reachable);
    REQUIRE(chosen.has_value() == !forward.empty());
    if (chosen) REQUIRE(*chosen == forward.front());
    for (const std::string& name : forward) {
      REQUIRE_FALSE(routing.excluded.contains(name));
      REQUIRE_FALSE(routing.quiesced.contains(name));
    }
  }
}

TEST_CASE("of equal exclusivity the lowest cost comes first, on both ends") {
  const std::vector<Candidate> cards = {{"verbs:a", 20, 43}, {"verbs:b", 20, 20}, {"tcp", 10, 0}};
  CHECK(permitted(Routing{}, cards) == Names{"verbs:b", "verbs:a", "tcp"});
  Routing tuned;
  tuned.tuning["verbs:a"].exclusivity = 21;
  CHECK(choose(tuned, cards) == "verbs:a");
}

TEST_CASE("a rule for a family is for all of it, and one for a single transport is not") {
  const std::vector<Candidate> cards = {{"verbs:a", 20}, {"verbs:b", 20}, {"tcp", 10}};
  Routing routing;
  routing.excluded = {"verbs"};
  CHECK(permitted(routing, cards) == Names{"tcp"});
  routing.excluded = {"verbs:a"};
  CHECK(permitted(routing, cards) == Names{"verbs:b", "tcp"});
  routing = {};
  routing.quiesced = {"verbs"};
  CHECK(choose(routing, cards) == "tcp");
  CHECK(connectable(routing, cards).size() == 3);
  routing = {};
  routing.tuning["verbs"].exclusivity = 5;
  routing.tuning["verbs:b"].weight = 7;
  CHECK(choose(routing, cards) == "tcp");
  CHECK(routing.tuned("verbs:b").exclusivity == 5);
  CHECK(routing.tuned("verbs:b").weight == 7);
  CHECK(!routing.tuned("verbs:a").weight);
}

TEST_CASE("pairs are moved from and to families") {
  const std::vector<Candidate> cards = {{"verbs:a", 20, 2}, {"verbs:b", 20, 1}, {"tcp", 10}};
  Routing routing;
  routing.moved = {{"verbs", "tcp"}};
  CHECK(permitted(routing, cards) == Names{"tcp"});
  routing.moved = {{"verbs:b", "tcp"}};
  CHECK(permitted(routing, cards) == Names{"tcp", "verbs:a"});
  routing.moved = {{"tcp", "verbs"}};
  routing.tuning["tcp"].exclusivity = 99;
  CHECK(permitted(routing, cards) == Names{"verbs:b", "verbs:a"});
  routing.moved = {{"verbs", "verbs:a"}};
  routing.tuning.clear();
  CHECK(permitted(routing, cards) == Names{"verbs:a", "tcp"});
  routing.moved = {{"tcp", "verbs"}};
  const std::vector<Candidate> none = {{"tcp", 10}};
  CHECK(choose(routing, none) == "tcp");
}
