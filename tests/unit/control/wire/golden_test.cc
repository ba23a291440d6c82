// SPDX-License-Identifier: BSD-3-Clause
// golden_test.cc -- every message, byte for byte: golden.jsonl holds the text of each, with every field set and with
// none. Programs of two versions meet in one job, and scripts read this JSON: a change here changes a format
// (docs/WIRE.md) and needs a new schema number. LIVEBTL_WRITE_GOLDEN=1 in the environment writes the file anew.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "control/wire/json_archive.h"
#include "control/wire/messages.h"

using namespace livebtl;
using namespace livebtl::control;

namespace {

constexpr Incarnation kSecond{2};

/// One entry more than a list for people has in JSON.
std::vector<std::string> crowd(const std::string& name) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i <= kNamesMax; ++i) list.push_back(name + std::to_string(i));
  return list;
}

core::Rules full_rules() {
  core::Rules rules;
  rules.excluded = {"verbs", "self"};
  rules.quiesced = {"tcp"};
  rules.moved = {{"sm", "tcp"}, {"tcp", "ofi"}};
  rules.set_aside = {"ofi"};
  return rules;
}

Routing full_routing() {
  Routing routing;
  static_cast<core::Rules&>(routing) = full_rules();
  routing.tuning["tcp"].exclusivity = 100;
  routing.tuning["sm"].weight = 7;
  routing.nodes["0123456789abcdef"] = full_rules();
  return routing;
}

Operation full_operation() {
  return {0xfedcba9876543210ULL, "switch",      {"sm", "t\"c\\p\n"}, "0123456789abcdef", true,
          full_routing(),        full_routing()};
}

core::RungReport full_rung_report() {
  return {0x11,
          12,
          Rung::kJoint,
          false,
          "cut off",
          true,
          crowd("pair"),
          13,
          14,
          crowd("waiting"),
          crowd("foreign"),
          crowd("absent")};
}

core::HoldReport full_hold_report() {
  return {0x51,      core::HoldState::kParking,
          3,         59'000,
          true,      Incarnation{9},
          0x50,      "broken",
          "refused", crowd("frame")};
}

Standing full_standing() {
  Standing standing;
  standing.member = {ProcessId{77}, kSecond};
  standing.name = "rank 3 on node17 \xc3\xa9 \xff";
  standing.rank = 3;
  standing.node = "n1";
  standing.host = "node17";
  standing.term = {3, 0xffffffffffffffffULL};
  standing.seq = 9;
  standing.epoch = 4'294'967'295U;
  standing.version = 12;
  standing.rung = Rung::kNewTx;
  standing.reached = false;
  standing.undoing = standing.joining = standing.stale = standing.busy = standing.left_open = true;
  standing.refused_seq = 8;
  standing.operation = full_operation();
  standing.report = full_rung_report();
  standing.routing = full_routing();
  standing.transports = {{"sm", "vader", false}, {"verbs", "openib", true}};
  standing.list_size = 5;
  standing.announced = 6;
  return standing;
}

core::TransportStatus full_transport() {
  core::TransportStatus status{"verbs", "openib", true, true, "no device", true, true, 20,
                               21,      22,       23,   true, {},          31,   32};
  status.carried = {24, 25, 26, 27, 28, 29, 30};
  return status;
}

core::PeerStatus full_peer() {
  return {ProcessId{78},
          "rank 4",
          "tcp",
          "sm",
          crowd("bulk"),
          40,
          41,
          42,
          0xffffffffffffffffULL,
          {{"tcp", 43}, {"sm", 44}},
          {{"sm", 45}},
          true};
}

StatusAnswer full_status() {
  core::EngineStatus engine;
  engine.process = ProcessId{77};
  engine.incarnation = kSecond;
  engine.epoch = 50;
  engine.rung = full_rung_report();
  engine.hold = full_hold_report();
  engine.routing = full_routing();
  engine.transports = {full_transport()};
  engine.peers = {full_peer()};
  engine.retransmitted_frames = 51;
  engine.duplicate_frames = 52;
  engine.reordered_frames = 53;
  return {full_standing(), engine, 54, 55};
}

core::RoutingPlan full_plan() { return {crowd("peer"), {{"sm", {{"tcp", 3}, {"ofi", 4}}}}, 5}; }

/// Each type once, in the order of Message, with every field set.
std::vector<Message> full_messages() {
  const MemberId member{ProcessId{77}, kSecond};
  const core::Contacts contacts = {{"sm", {}}, {"tcp", {std::byte{0}, std::byte{0xaf}}}};
  return {
      StandingRequest{"job-1", true},
      PromiseRequest{"job-1", {1, 2}, true},
      Order{"job-1", {3, 4}, 9, 4, Rung::kNew, true, full_operation()},
      LadderEnd{"job-1", {5, 6}, true, 7},
      full_standing(),
      PlanRequest{"job-1", full_routing()},
      PlanAnswer{member, "rank 1", full_plan()},
      MembersRequest{"job-1", 3},
      MembersAnswer{
          "job-1", 1, 2, false, {{member, "rank 0", 0, "n1", true}, {}}, {"tcp://10.0.0.1:5 a"}},
      StatusRequest{"job-1", true, 9},
      full_status(),
      ListRequest{"job-1"},
      ListAnswer{member, "rank 1", 1, "n1", {full_transport()}},
      WatchRequest{"job-1", 500},
      WatchEvent{"left", full_standing()},
      SecretRequest{"job-1"},
      SecretAnswer{std::string(64, 'a')},
      AddressesRequest{"job-1", 5},
      AddressesAnswer{member, 6, contacts},
      HoldRequest{"job-1", HoldAction::kRestore, 0x51, 60'000, 4, 7, kSecond},
      HoldAnswer{member, "rank 6", 6, 8, 7, full_hold_report()},
      ErrorAnswer{Errc::kAuth, "not permitted"}};
}

template <std::size_t... index>
std::vector<Message> empty_messages(std::index_sequence<index...>) {
  return {Message(std::in_place_index<index>)...};
}

/// What shows each name of an enumeration.
std::vector<Message> named_values() {
  std::vector<Message> messages;
  for (const Rung rung : {Rung::kOld, Rung::kJoint, Rung::kNewTx, Rung::kNew})
    messages.emplace_back(Order{"j", {1, 1}, 1, 1, rung, false, full_operation()});
  for (int action = 0; action <= static_cast<int>(HoldAction::kRestore); ++action)
    messages.emplace_back(HoldRequest{"j", static_cast<HoldAction>(action), 1, 1, 0, 1, kSecond});
  for (int state = 0; state <= static_cast<int>(core::HoldState::kFenced); ++state) {
    HoldAnswer answer{{ProcessId{1}, {}}, "", -1, 0, 1, {}};
    answer.report.state = static_cast<core::HoldState>(state);
    messages.emplace_back(answer);
  }
  for (int code = 0; code <= static_cast<int>(Errc::kBadKey); ++code)
    messages.emplace_back(ErrorAnswer{static_cast<Errc>(code), ""});
  return messages;
}

Outcome full_outcome() {
  Outcome outcome;
  outcome.code = ExitCode::kRetracted;
  outcome.verb = "switch";
  outcome.arguments = {"sm", "tcp"};
  outcome.scope = "node:n1";
  outcome.text = "switch sm tcp: time-out";
  outcome.already = outcome.released = true;
  outcome.operation = 0xabc;
  outcome.epoch = 60;
  outcome.members = 61;
  outcome.rung = Rung::kJoint;
  outcome.pairs_moved = 62;
  outcome.pairs_left = 63;
  outcome.pairs = crowd("pair");
  outcome.stragglers = {
      {{ProcessId{77}, kSecond}, "rank 1", 1, Rung::kJoint, true, crowd("marker")}, {}};
  outcome.stragglers_total = 64;
  outcome.missing_ranks = {7, 8};
  outcome.rungs = {{Rung::kNewTx, true, true, 0.25}, {}};
  outcome.foreign = crowd("foreign");
  outcome.absent = crowd("absent");
  outcome.plans = {{"rank 1", full_plan()}};
  outcome.opens = crowd("open");
  outcome.closes = crowd("close");
  return outcome;
}

std::string text_of(const Message& message) {
  const auto text = encode(message);
  REQUIRE_MESSAGE(text, (text ? "" : text.error().text));
  return *text;
}

std::vector<std::string> lines_now() {
  std::vector<std::string> lines;
  for (const auto& messages :
       {full_messages(), empty_messages(std::make_index_sequence<std::variant_size_v<Message>>()),
        named_values()})
    for (const Message& message : messages) lines.push_back(text_of(message));
  for (const Outcome& outcome : {full_outcome(), Outcome{}}) lines.push_back(outcome_json(outcome));
  return lines;
}

/// By path, every field that has the same value in both.
void check_differs(const Json& full, const Json& empty, const std::string& path) {
  for (const auto& [key, value] : full.items()) {
    if (key == "schema") continue;
    REQUIRE_MESSAGE(empty.contains(key), (path + key));
    if (value.is_object() && empty[key].is_object() && !empty[key].empty())
      check_differs(value, empty[key], path + key + ".");
    else
      CHECK_MESSAGE(value != empty[key], (path + key));
  }
}

}  // namespace

TEST_CASE("each message and the outcome have the bytes that they have always had") {
  const std::vector<std::string> lines = lines_now();
  if (std::getenv("LIVEBTL_WRITE_GOLDEN") != nullptr) {
    std::ofstream file(LIVEBTL_GOLDEN);
    for (const std::string& line : lines) file << line << '\n';
  }
  std::ifstream file(LIVEBTL_GOLDEN);
  std::size_t count = 0;
  for (std::string golden; std::getline(file, golden); ++count) {
    REQUIRE(count < lines.size());
    CHECK(lines[count] == golden);
  }
  CHECK(count == lines.size());
}

TEST_CASE("what is read of each whole message is written as the same bytes") {
  for (const auto& messages : {full_messages(), named_values()}) {
    for (const Message& message : messages) {
      const std::string text = text_of(message);
      const auto back = decode(text);
      REQUIRE_MESSAGE(back, (back ? "" : back.error().text));
      CHECK(back->index() == message.index());
      CHECK(text_of(*back) == text);
    }
  }
}

TEST_CASE("the whole messages leave no field at its default") {
  const std::vector<Message> full = full_messages();
  REQUIRE(full.size() == std::variant_size_v<Message>);
  const auto empty = empty_messages(std::make_index_sequence<std::variant_size_v<Message>>());
  for (std::size_t i = 0; i < full.size(); ++i) {
    const Json json = Json::parse(text_of(full[i]));
    REQUIRE(full[i].index() == i);
    check_differs(json, Json::parse(text_of(empty[i])), json["schema"].get<std::string>() + " ");
  }
  check_differs(Json::parse(outcome_json(full_outcome())), Json::parse(outcome_json({})),
                "outcome ");
}
