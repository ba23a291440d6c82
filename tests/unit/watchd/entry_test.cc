// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/watchd/entry_test.cc -- a journal line survives the round trip; others are refused.
#include "watchd/events/entry.h"

#include <doctest/doctest.h>

using namespace livebtl;
using namespace livebtl::watchd;

TEST_CASE("an entry is read as it was written") {
  Entry entry{5,
              "azure",
              {.id = "A-1", .kind = Kind::kDrain, .start = 77},
              State::kReleased,
              true,
              "all \"is\"\nreleased"};
  entry.notice.acknowledgeable = true;
  entry.notice.begun = true;
  const std::string line = entry_line(entry);
  CHECK(line.find('\n') == std::string::npos);
  const auto read = read_entry(line);
  REQUIRE(read);
  CHECK(entry_line(*read) == line);
  CHECK(read->notice.start == 77);
  CHECK(read->called);
  CHECK(read->state == State::kReleased);
}

TEST_CASE("all states and kinds have names that are read") {
  for (std::size_t state = 0; state < kStates; ++state) {
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const Entry entry{
          1, "gce", {.id = "x", .kind = static_cast<Kind>(kind)}, static_cast<State>(state)};
      const auto read = read_entry(entry_line(entry));
      REQUIRE(read);
      CHECK(read->state == entry.state);
      CHECK(read->notice.kind == entry.notice.kind);
      CHECK(!read->notice.start);
    }
  }
}

TEST_CASE("what is no entry is refused") {
  const std::string good = entry_line({1, "gce", {.id = "x"}, State::kSeen});
  CHECK(!read_entry(good.substr(0, good.size() - 1)));
  for (const char* text :
       {"", "{}", "[]", "7", R"({"schema":"livebtl.watchd/1"})",
        R"({"schema":"livebtl.watchd/1","source":"a","event":"b c","kind":"drain","state":"seen"})",
        R"({"schema":"livebtl.watchd/1","source":"a","event":"b","kind":"drain","state":"sean"})",
        R"({"schema":"livebtl.watchd/2","source":"a","event":"b","kind":"drain","state":"seen"})"})
    CHECK(!read_entry(text));
}
