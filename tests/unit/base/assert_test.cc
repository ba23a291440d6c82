// SPDX-License-Identifier: BSD-3-Clause
// A failed assertion stops the process with SIGABRT, in every build, and says what was wrong.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <csignal>

#include "base/assert.h"
#include "captured_stderr.h"

using namespace livebtl;

TEST_CASE("a false assertion aborts with its text, condition and place") {
  int status = 0;
  const std::string text = test::captured_stderr([&] {
    const pid_t child = ::fork();
    if (child == 0) {
      std::signal(SIGABRT, SIG_DFL);  // else doctest would report it as a crash of its own
      LIVEBTL_ASSERT(1 + 1 == 3, "sums are right");
      ::_exit(0);
    }
    ::waitpid(child, &status, 0);
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  CHECK(text.find("sums are right") != std::string::npos);
  CHECK(text.find("1 + 1 == 3") != std::string::npos);
  CHECK(text.find("assert_test.cc:") != std::string::npos);
}

TEST_CASE("a true assertion evaluates its condition once and goes on") {
  int evaluated = 0;
  LIVEBTL_ASSERT(++evaluated == 1, "evaluated once");
  CHECK(evaluated == 1);
}
