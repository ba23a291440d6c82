// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/vm/conversation_test.cc -- programs that converse by lines.
#include "hypervisor/vm/conversation.h"

#include <doctest/doctest.h>
#include <unistd.h>

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

Deadline soon() { return {monotonic_now() + 60 * kSecond, nullptr}; }

Conversation shell(const std::string& script, AtTerminal place = AtTerminal::kApart) {
  auto started = Conversation::start({"sh", "-c", script}, place);
  REQUIRE(started);
  return std::move(*started);
}

}  // namespace

TEST_CASE("a long line is heard whole, and what comes after it as well") {
  Conversation program = shell("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo short");
  const auto line = program.read_line(soon());
  REQUIRE(line);
  CHECK(line->size() == 3'000'000);
  CHECK(program.read_line(soon()) == std::string("short"));
  CHECK(program.finish(soon()));
}

TEST_CASE("a line without an end is given up at once, not at the deadline") {
  Conversation program = shell("head -c 9000000 /dev/zero; exec sleep 600");
  const TimeNs begun = monotonic_now();
  const auto line = program.read_line({begun + 600 * kSecond, nullptr});
  REQUIRE(!line);
  CHECK(line.error().code == Errc::kLimit);
  CHECK(monotonic_now() - begun < 120 * kSecond);
}

TEST_CASE("one that may ask at the terminal is in its group, and does not hear Ctrl-C") {
  Conversation program = shell("kill -INT $$; cut -d' ' -f5 /proc/$$/stat", AtTerminal::kMayAsk);
  CHECK(program.read_line(soon()) == std::to_string(::getpgrp()));
  const auto finished = program.finish(soon());
  REQUIRE(finished);
  CHECK(finished->code == 0);
}

TEST_CASE("without a deadline the end of a program is waited for, and it is not killed") {
  Conversation program = shell("cat; sleep 0.3; exit 4");
  const auto finished = program.finish({kNever, nullptr});
  REQUIRE(finished);
  CHECK(finished->code == 4);
}
