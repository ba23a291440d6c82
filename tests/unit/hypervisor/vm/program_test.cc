// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/vm/program_test.cc -- programs are run, bounded in time and output.
#include "hypervisor/vm/program.h"

#include <doctest/doctest.h>

#include <thread>

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

Deadline in(TimeNs time) { return {monotonic_now() + time, nullptr}; }

}  // namespace

TEST_CASE("what a program prints and how it ends is kept") {
  const auto done =
      run_program({"sh", "-c", "echo out; echo err >&2; cat; exit 7"}, in(60 * kSecond), kSecond);
  REQUIRE(done);
  CHECK(done->code == 7);
  CHECK(done->output == "out\n");
  CHECK(done->errors == "err\n");
}

TEST_CASE("a program that is not there is named") {
  const auto done = run_program({"/no/such/program"}, in(kSecond), kSecond);
  REQUIRE(!done);
  CHECK(done.error().code == Errc::kNotFound);
  CHECK(done.error().text.find("/no/such/program") != std::string::npos);
}

TEST_CASE("output without end is cut, not kept") {
  const auto done =
      run_program({"sh", "-c", "head -c 3000000 /dev/zero"}, in(60 * kSecond), kSecond);
  REQUIRE(done);
  CHECK(done->output.size() == (1u << 20));
}

TEST_CASE("a program that takes too long is told to end, and may say its last word") {
  const auto said =
      run_program({"sh", "-c", "trap 'echo taken back; exit 5' TERM; while :; do sleep 0.1; done"},
                  in(kSecond / 2), 60 * kSecond);
  REQUIRE(said);
  CHECK(said->code == 5);
  CHECK(said->output == "taken back\n");
  const auto deaf = run_program({"sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"},
                                in(kSecond / 2), kSecond / 2);
  REQUIRE(!deaf);
  CHECK(deaf.error().code == Errc::kTimeout);
}

TEST_CASE("a stop ends the wait") {
  std::atomic<bool> stop{true};
  const auto done =
      run_program({"sleep", "600"}, {monotonic_now() + 600 * kSecond, &stop}, kSecond);
  CHECK(!done);
}
