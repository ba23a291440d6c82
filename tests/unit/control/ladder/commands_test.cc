// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/ladder/commands_test.cc -- how each command changes the routing.
#include "control/ladder/commands.h"
#include "control/ladder/scope.h"

#include <doctest/doctest.h>

using namespace livebtl;
using namespace livebtl::control;

namespace {
const std::vector<KnownTransport> kTransports = {{"sm", "vader"}, {"tcp", ""}, {"verbs", "openib"}};

Routing after(const char* verb, const std::vector<std::string>& arguments,
              const Routing& before = {}) {
  const auto resolved = resolve_arguments(verb, arguments, kTransports);
  REQUIRE(resolved);
  const auto routing = apply_verb(verb, *resolved, before);
  REQUIRE(routing);
  return *routing;
}

ExitCode refusal(const char* verb, const std::vector<std::string>& arguments) {
  const auto resolved = resolve_arguments(verb, arguments, kTransports);
  return resolved ? ExitCode::kDone : resolved.error().code;
}
}  // namespace

TEST_CASE("switch moves one transport's pairs to another and back; nothing toggles") {
  const Routing there = after("switch", {"sm", "tcp"});
  CHECK(there.moved == std::map<std::string, std::string>{{"sm", "tcp"}});
  CHECK(after("switch", {"sm", "tcp"}, there) == there);
  const Routing back = after("switch", {"tcp", "sm"}, there);
  CHECK(back.moved == std::map<std::string, std::string>{{"tcp", "sm"}});
}

TEST_CASE("moves never form a circle") {
  Routing routing = after("switch", {"sm", "tcp"});
  routing = after("switch", {"tcp", "verbs"}, routing);
  routing = after("switch", {"verbs", "sm"}, routing);
  std::string at = "tcp";
  for (int steps = 0; routing.moved.count(at) != 0; ++steps) {
    REQUIRE(steps < 3);
    at = routing.moved[at];
  }
  CHECK(at == "sm");
}

TEST_CASE("add takes back every reason not to use a transport") {
  Routing routing;
  routing.excluded = routing.quiesced = {"sm", "tcp"};
  routing.moved["sm"] = "tcp";
  const Routing added = after("add", {"sm"}, routing);
  CHECK(added.excluded == std::set<std::string>{"tcp"});
  CHECK(added.quiesced == std::set<std::string>{"tcp"});
  CHECK(added.moved.empty());
}

TEST_CASE("a command for a node changes that node's rules, and leaves none that say nothing") {
  const std::string node = "00000000000000aa";
  const auto there = [&](const char* verb, const std::vector<std::string>& arguments,
                         const Routing& routing) {
    return apply_verb(verb, arguments, routing, node);
  };
  const Routing removed = *there("remove", {"sm"}, {});
  CHECK(removed.excluded.empty());
  CHECK(removed.nodes.at(node).excluded == std::set<std::string>{"sm"});
  CHECK(*there("add", {"sm"}, removed) == Routing{});
  CHECK(after("add", {"sm"}, removed) == removed);
  CHECK(there("switch", {"tcp", "sm"}, removed).error().code == ExitCode::kRefused);
  CHECK(there("add", {"sm"}, after("remove", {"sm"})).error().code == ExitCode::kRefused);
  CHECK(there("add", {"sm"}, after("quiesce", {"sm"})).error().code == ExitCode::kRefused);
  CHECK(there("set", {"sm", "weight=2"}, {}).error().code == ExitCode::kUsage);
}

TEST_CASE("a node's pairs stay where a switch for it has brought them, whatever the job rules") {
  const std::string node = "00000000000000aa";
  const std::vector<livebtl::core::Candidate> reachable = {{"sm", 9}, {"verbs", 5}, {"tcp", 1}};
  const auto used = [&](const Routing& routing) {
    return *livebtl::core::choose(livebtl::core::RoutingView(routing, node), reachable);
  };
  const auto there = [&](const std::vector<std::string>& arguments, const Routing& routing) {
    return *apply_verb("switch", arguments, routing, node);
  };
  const Routing back = there({"tcp", "sm"}, after("switch", {"sm", "tcp"}));
  CHECK(used(back) == "sm");
  // The job's rule comes later, and together with the node's would form a circle.
  Routing moved = there({"verbs", "tcp"}, after("switch", {"sm", "verbs"}));
  CHECK(used(moved) == "tcp");
  moved = after("switch", {"tcp", "verbs"}, moved);
  CHECK(used(moved) == "tcp");
  CHECK(*livebtl::core::choose(moved, reachable) == "verbs");
  CHECK(used(there({"tcp", "verbs"}, moved)) == "verbs");
  CHECK(there({"verbs", "tcp"}, moved) == moved);  // already so
}

TEST_CASE(
    "no more nodes get rules of their own than messages can tell; to take one back is no growth") {
  Routing routing;
  std::size_t nodes = 0;
  for (;; ++nodes) {
    auto more = apply_verb("checkpoint", {"prepare", "verbs"}, routing, std::to_string(nodes));
    if (!more) {
      CHECK(more.error().code == ExitCode::kRefused);
      break;
    }
    routing = std::move(*more);
    REQUIRE(nodes < 1000);
  }
  CHECK(nodes > 100);
  CHECK(apply_verb("checkpoint", {"return"}, routing, "7")->nodes.size() == nodes - 1);
  CHECK(*apply_verb("checkpoint", {"prepare", "verbs"}, routing, "7") == routing);
}

TEST_CASE("checkpoint sets aside what is bound to a device and in use, and brings back just that") {
  const std::vector<KnownTransport> known = {{"tcp", "", false}, {"verbs", "openib", true}};
  const auto prepare = *resolve_arguments("checkpoint", {"prepare"}, known);
  CHECK(prepare == std::vector<std::string>{"prepare", "verbs"});
  CHECK(releases("checkpoint", prepare));
  CHECK_FALSE(releases("checkpoint", {"return"}));
  const Routing ready = after("checkpoint", prepare);
  CHECK(ready.set_aside == std::set<std::string>{"verbs"});
  CHECK(after("checkpoint", prepare, ready) == ready);
  CHECK(after("checkpoint", {"return"}, ready) == Routing{});
  CHECK(after("checkpoint", {"return"}) == Routing{});
  // What an operator has removed, only an operator brings back.
  const Routing removed = after("remove", {"verbs"});
  CHECK(after("checkpoint", prepare, removed) == removed);
  CHECK(after("add", {"verbs"}, ready) == Routing{});
  CHECK(apply_verb("switch", {"tcp", "verbs"}, ready).error().code == ExitCode::kRefused);
  CHECK(*resolve_arguments("checkpoint", {"prepare", "openib"}, known) == prepare);
  for (const auto& nonsense :
       std::vector<std::vector<std::string>>{{}, {"begin"}, {"return", "verbs"}}) {
    CHECK(resolve_arguments("checkpoint", nonsense, known).error().code == ExitCode::kUsage);
  }
  CHECK(resolve_arguments("checkpoint", {"prepare", "ib"}, known).error().code ==
        ExitCode::kNotFound);
}

TEST_CASE("checkpoint for a node changes that node's rules alone") {
  const std::string node = "00000000000000aa";
  const Routing ready = *apply_verb("checkpoint", {"prepare", "verbs"}, {}, node);
  CHECK(ready.set_aside.empty());
  CHECK(ready.nodes.at(node).set_aside == std::set<std::string>{"verbs"});
  CHECK(*apply_verb("checkpoint", {"return"}, ready, node) == Routing{});
  CHECK(*apply_verb("checkpoint", {"return"}, ready) == ready);
}

TEST_CASE("a scope is the job, or a node by its host or its id; a name of two nodes is refused") {
  const std::set<NodeLabel> nodes = {
      {"00000000000000aa", "vm1"}, {"00000000000000bb", "vm2"}, {"00000000000000cc", "vm2"}};
  CHECK(resolve_scope("", nodes)->empty());
  CHECK(resolve_scope("job", nodes)->empty());
  CHECK(*resolve_scope("node:vm1", nodes) == "00000000000000aa");
  CHECK(*resolve_scope("node:00000000000000cc", nodes) == "00000000000000cc");
  CHECK(resolve_scope("node:vm2", nodes).error().code == ExitCode::kRefused);
  CHECK(resolve_scope("node:vm3", nodes).error().code == ExitCode::kNotFound);
  for (const char* nonsense : {"node:", "node", "rank:1", "Job"})
    CHECK(resolve_scope(nonsense, nodes).error().code == ExitCode::kUsage);
}

TEST_CASE("quiesce, remove and set change what they name") {
  CHECK(after("quiesce", {"sm"}).quiesced == std::set<std::string>{"sm"});
  CHECK(after("remove", {"sm"}).excluded == std::set<std::string>{"sm"});
  const Routing set = after("set", {"sm", "weight=3", "exclusivity=9"});
  CHECK(set.tuning.at("sm").weight == 3U);
  CHECK(set.tuning.at("sm").exclusivity == 9U);
  CHECK(after("set", {"sm", "weight=default", "exclusivity=default"}, set) == Routing{});
  const Routing once = after("set", {"sm", "single-copy=cma"}, set);
  CHECK(once.tuning.at("sm").single_copy == SingleCopy::kCma);
  CHECK(once.tuning.at("sm").weight == 3U);
  CHECK(after("set", {"sm", "single-copy=knem"}, once).tuning.at("sm").single_copy ==
        SingleCopy::kKnem);
  CHECK(after("set", {"sm", "single-copy=default"}, once) == set);
  CHECK(resolve_arguments("set", {"sm", "single-copy=xpmem"}, {{"sm", "vader", false}})
            .error()
            .code == ExitCode::kUsage);
  CHECK(resolve_arguments("set", {"tcp", "single-copy=cma"}, {{"tcp", "", false}}).error().code ==
        ExitCode::kUsage);
}

TEST_CASE("a switch to a quiesced transport uses it, to a removed one is refused") {
  Routing routing = after("quiesce", {"tcp"});
  CHECK(after("switch", {"sm", "tcp"}, routing).quiesced.empty());
  routing = after("remove", {"tcp"});
  const auto result = apply_verb("switch", {"sm", "tcp"}, routing);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ExitCode::kRefused);
}

TEST_CASE("names from Open MPI are understood") {
  CHECK(after("switch", {"vader", "openib"}).moved.at("sm") == "verbs");
}

TEST_CASE("malformed commands say which kind of wrong they are") {
  CHECK(refusal("switch", {"sm"}) == ExitCode::kUsage);
  CHECK(refusal("switch", {"sm", "vader"}) == ExitCode::kUsage);
  CHECK(refusal("switch", {"sm", "ofi"}) == ExitCode::kNotFound);
  CHECK(refusal("remove", {}) == ExitCode::kUsage);
  CHECK(refusal("remove", {""}) == ExitCode::kNotFound);
  CHECK(refusal("resume", {"sm"}) == ExitCode::kUsage);
  CHECK(refusal("resume", {}) == ExitCode::kDone);
  CHECK(refusal("explode", {"sm"}) == ExitCode::kUsage);
  for (const char* bad :
       {"weight", "weight=", "weight=-1", "weight=4294967296", "weight=1x", "colour=3"}) {
    CHECK(refusal("set", {"sm", bad}) == ExitCode::kUsage);
  }
}
