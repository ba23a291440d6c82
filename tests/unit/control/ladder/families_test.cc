// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/ladder/families_test.cc -- commands for a family of transports, such as a
// process's cards, and for one transport of it.
#include <doctest/doctest.h>

#include "control/ladder/commands.h"

using namespace livebtl;
using namespace livebtl::control;

namespace {

const std::vector<KnownTransport> kCards = {
    {"tcp", ""}, {"verbs:a", "", true}, {"verbs:b", "", true}, {"verbs:c", "", true}};
const std::set<std::string> kCardNames = {"tcp", "verbs:a", "verbs:b", "verbs:c"};
using NameSet = std::set<std::string>;
using Moves = std::map<std::string, std::string>;

Routing with_cards(const char* verb, const std::vector<std::string>& arguments,
                   const Routing& before = {}) {
  const auto resolved = resolve_arguments(verb, arguments, kCards);
  REQUIRE(resolved);
  const auto routing = apply_verb(verb, *resolved, before, "", kCardNames);
  REQUIRE(routing);
  return *routing;
}

}  // namespace

TEST_CASE("the word for a family means all of it, by the name from Open MPI too") {
  CHECK(with_cards("remove", {"verbs"}).excluded == NameSet{"verbs"});
  CHECK(with_cards("remove", {"openib"}).excluded == NameSet{"verbs"});
  CHECK(!resolve_arguments("remove", {"ofi"}, kCards));
  CHECK(!resolve_arguments("remove", {"verbs:z"}, kCards));
  CHECK(with_cards("checkpoint", {"prepare"}).set_aside ==
        NameSet{"verbs:a", "verbs:b", "verbs:c"});
  CHECK(with_cards("checkpoint", {"prepare", "verbs"}).set_aside == NameSet{"verbs"});
}

TEST_CASE("one of a family is taken out of a rule for all; the others stay ruled") {
  const Routing all = with_cards("remove", {"verbs"});
  CHECK(with_cards("add", {"verbs:a"}, all).excluded == NameSet{"verbs:b", "verbs:c"});
  CHECK(with_cards("add", {"verbs"}, with_cards("add", {"verbs:a"}, all)).excluded.empty());
  CHECK(with_cards("remove", {"verbs:a"}, all) == all);
  const Routing one = with_cards("remove", {"verbs:a"});
  CHECK(one.excluded == NameSet{"verbs:a"});
  CHECK(with_cards("remove", {"verbs"}, one).excluded == NameSet{"verbs"});
  const Routing still = with_cards("quiesce", {"verbs"});
  CHECK(with_cards("add", {"verbs:b"}, still).quiesced == NameSet{"verbs:a", "verbs:c"});
}

TEST_CASE("a family is switched as a whole, one of it alone, and each way back") {
  const Routing away = with_cards("switch", {"verbs", "tcp"});
  CHECK(away.moved == Moves{{"verbs", "tcp"}});
  CHECK(with_cards("switch", {"tcp", "verbs"}, away).moved == Moves{{"tcp", "verbs"}});
  CHECK(with_cards("switch", {"tcp", "verbs:a"}, away).moved ==
        Moves{{"verbs:b", "tcp"}, {"verbs:c", "tcp"}, {"tcp", "verbs:a"}});
  const Routing one = with_cards("switch", {"verbs:a", "tcp"});
  CHECK(one.moved == Moves{{"verbs:a", "tcp"}});
  CHECK(with_cards("switch", {"verbs", "tcp"}, one).moved == Moves{{"verbs", "tcp"}});
  CHECK(with_cards("add", {"verbs:a"}, away).moved ==
        Moves{{"verbs:b", "tcp"}, {"verbs:c", "tcp"}});
  CHECK(with_cards("switch", {"verbs", "verbs:b"}).moved == Moves{{"verbs", "verbs:b"}});
  const auto into_itself = resolve_arguments("switch", {"verbs:a", "verbs"}, kCards);
  REQUIRE(!into_itself);
  CHECK(into_itself.error().code == ExitCode::kUsage);
}

TEST_CASE("what is removed, each alone or as a family, is not switched to") {
  Routing away;
  away.excluded = {"verbs:a", "verbs:b", "verbs:c"};
  const auto refused = [&](const Routing& before, const std::string& to) {
    return !apply_verb("switch", {"tcp", to}, before, "", kCardNames);
  };
  CHECK(refused(away, "verbs"));
  away.excluded.erase("verbs:b");
  CHECK(!refused(away, "verbs"));
  CHECK(refused(away, "verbs:a"));
  away.excluded = {"verbs"};
  CHECK(refused(away, "verbs:b"));
}

TEST_CASE("where one is called as its family is, no single one is taken out of a rule for all") {
  Routing away;
  away.excluded = {"ofi"};
  const NameSet known = {"ofi", "ofi:shm"};
  const auto refused = apply_verb("add", {"ofi:shm"}, away, "", known);
  REQUIRE(!refused);
  CHECK(refused.error().code == ExitCode::kRefused);
  CHECK(refused.error().text.find("`btlctl add ofi`") != std::string::npos);
  CHECK(apply_verb("add", {"ofi"}, away, "", known)->excluded.empty());
}

TEST_CASE("what is set of a family holds for all of it") {
  const Routing one = with_cards("set", {"verbs:a", "weight=3", "exclusivity=4"});
  CHECK(one.tuned("verbs:b") == core::Tuning{});
  const Routing all = with_cards("set", {"verbs", "weight=9"}, one);
  CHECK(all.tuned("verbs:a").weight == 9);
  CHECK(all.tuned("verbs:a").exclusivity == 4);
  CHECK(all.tuned("verbs:c").weight == 9);
  CHECK(with_cards("set", {"verbs", "weight=default"}, with_cards("set", {"verbs:a", "weight=3"}))
            .tuning.empty());
}
