// SPDX-License-Identifier: BSD-3-Clause
// bounds_test.cc -- bounds on what one message can cause: numbers that leave room for others, lists
// that are cut, pages that fit.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "control/wire/json_archive.h"
#include "tests/unit/control/wire/full_standing.h"
#include "tests/unit/control/wire/through.h"

using namespace livebtl;
using namespace livebtl::control;
using livebtl::test::full_standing;
using livebtl::test::through;

TEST_CASE("a term after which there is no other is refused, whoever tells of it") {
  for (const std::uint64_t number : {kTermMax, kTermMax + 1, UINT64_MAX}) {
    const bool good = number == kTermMax;
    Standing standing = full_standing();
    standing.term.number = number;
    NodeStanding merged;
    merged.groups.emplace_back().shared = standing;
    merged.groups[0].shared.member.process = ProcessId{};
    merged.groups[0].members = {ProcessId{77}};
    merged.groups[0].versions = {1};
    for (const Message& message :
         {Message(standing), Message(merged), Message(PromiseRequest{"j", standing.term, true}),
          Message(StatusAnswer{standing, {}, 0, 0})})
      CHECK(decode(*encode(message)).has_value() == good);
  }
}

TEST_CASE("a standing that would take much memory is cut, or refused") {
  Json json = Json::parse(*encode(full_standing()));
  json["report"]["waiting"] = std::vector<std::string>(1000, "x");
  const auto cut = decode(json.dump());
  REQUIRE(cut);
  CHECK(std::get<Standing>(*cut).report.waiting.size() == kNamesMax);
  json["transports"] = std::vector<Json>(65, json["transports"][0]);
  const auto many = decode(json.dump());
  REQUIRE_FALSE(many);
  CHECK(many.error().text.find("transports") != std::string::npos);
}

TEST_CASE("of a page of members that is too long there are several, which together say all") {
  MembersAnswer page{"job", 0, 128, true, {}, {}};
  for (std::uint64_t i = 1; i <= 128; ++i)
    page.members.push_back({{ProcessId{i}, {}}, std::string(400, 'n'), -1, "n", false});
  std::set<std::string> all, told;
  for (int i = 0; i < 512; ++i)
    all.insert("tcp://" + std::string(200, 'h') + ":" + std::to_string(1 + i));
  for (std::size_t i = 0; i < 40; ++i) {
    page.relays.assign(all.begin(), all.end());
    turn_by(page.relays, i);
    const MembersAnswer fit = through(fit_page(page));
    CHECK_FALSE(fit.members.empty());
    CHECK(std::equal(fit.members.begin(), fit.members.end(), page.members.begin()));
    told.insert(fit.relays.begin(), fit.relays.end());
  }
  CHECK(told == all);
  MembersAnswer small{"job", 0, 1, true, {page.members[0]}, {"tcp://a:1"}};
  CHECK(fit_page(small).relays == small.relays);
}

TEST_CASE("each of two parts is the first one in turn") {
  std::vector<std::string> both{"a", "b"};
  turn_by(both, 1);
  CHECK(both.front() == "b");
}
