// SPDX-License-Identifier: BSD-3-Clause
#include "base/process_mark.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace livebtl;

TEST_CASE("a process that runs or is stopped has not ended; one that was killed has") {
  CHECK_FALSE(has_ended(own_mark()));
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  ProcessMark mark = own_mark();
  mark.pid = child;
  ::kill(child, SIGSTOP);
  int status = 0;
  REQUIRE(::waitpid(child, &status, WUNTRACED) == child);
  CHECK_FALSE(has_ended(mark));
  ::kill(child, SIGKILL);
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  CHECK(has_ended(mark));  // not yet reaped by its parent
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(has_ended(mark));
}

TEST_CASE("of a process whose numbers are of another namespace nothing is known") {
  ProcessMark mark{INT32_MAX, own_mark().space};  // higher than any process id
  CHECK(has_ended(mark));
  mark.space += 1;
  CHECK_FALSE(has_ended(mark));
  mark.space = 0;
  CHECK_FALSE(has_ended(mark));
}

TEST_CASE("a process may give itself any name") {
  const auto stat =
      parse_process_stat("42 (a) b\n(c) S 7 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 4711 1000 1");
  REQUIRE(stat);
  CHECK(stat->name == "a) b\n(c");
  CHECK(stat->parent == 7);
  CHECK(stat->threads == 3);
  CHECK(stat->start == 4711);
  CHECK_FALSE(parse_process_stat("42 (a S 7"));
  CHECK_FALSE(parse_process_stat(""));
}
