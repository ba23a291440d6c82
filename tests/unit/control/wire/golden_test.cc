// SPDX-License-Identifier: BSD-3-Clause
// golden_test.cc -- every message, byte for byte: golden.jsonl holds the text of each, with every field set and with
// none. Programs of two versions meet in one job, and scripts read this JSON: a change here changes a format
// (docs/WIRE.md) and needs a new schema number. LIVEBTL_WRITE_GOLDEN=1 in the environment writes the file anew.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "control/wire/json_archive.h"
#include "tests/unit/control/wire/full_messages.h"

using namespace livebtl;
using namespace livebtl::control;
using livebtl::test::full_messages;
using livebtl::test::full_operation;
using livebtl::test::full_outcome;

namespace {

template <std::size_t... index>
std::vector<Message> empty_messages(std::index_sequence<index...>) {
  return {Message(std::in_place_index<index>)...};
}

/// Messages that show each name of an enumeration.
std::vector<Message> named_values() {
  std::vector<Message> messages;
  for (const Rung rung : {Rung::kOld, Rung::kJoint, Rung::kNewTx, Rung::kNew})
    messages.emplace_back(Order{"j", {1, 1}, 1, 1, rung, false, full_operation()});
  for (int action = 0; action <= static_cast<int>(HoldAction::kRestore); ++action)
    messages.emplace_back(
        HoldRequest{"j", static_cast<HoldAction>(action), 1, 1, 0, 1, Incarnation{2}});
  for (int state = 0; state <= static_cast<int>(core::HoldState::kFenced); ++state) {
    HoldAnswer answer{{ProcessId{1}, {}}, "", -1, 0, 1, {}};
    answer.report.state = static_cast<core::HoldState>(state);
    messages.emplace_back(answer);
  }
  for (int code = 0; code <= static_cast<int>(Errc::kBadKey); ++code)
    messages.emplace_back(ErrorAnswer{static_cast<Errc>(code), ""});
  return messages;
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

/// Checks, by path, that no field has the same value in both.
void check_differs(const Json& full, const Json& empty, const std::string& path) {
  for (const auto& field : full.items()) {
    const std::string& key = field.key();
    if (key == "schema") continue;
    CAPTURE(path);
    CAPTURE(key);
    REQUIRE(empty.contains(key));
    const bool is_nested = field.value().is_object() && !empty[key].empty();
    if (is_nested && empty[key].is_object())
      check_differs(field.value(), empty[key], path + key + ".");
    else
      CHECK(field.value() != empty[key]);
  }
}

}  // namespace

// Their order in an object is not part of the format.
TEST_CASE("each message and the outcome have the fields that they have always had") {
  const std::vector<std::string> lines = lines_now();
  if (std::getenv("LIVEBTL_WRITE_GOLDEN") != nullptr) {
    std::ofstream file(LIVEBTL_GOLDEN);
    for (const std::string& line : lines) file << line << '\n';
  }
  std::ifstream file(LIVEBTL_GOLDEN);
  std::size_t count = 0;
  for (std::string golden; std::getline(file, golden); ++count) {
    REQUIRE(count < lines.size());
    CAPTURE(golden);
    const auto now = parse_json(lines[count], kMessageDepthMax);
    REQUIRE(now);
    CHECK(*now == *parse_json(golden, kMessageDepthMax));
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
