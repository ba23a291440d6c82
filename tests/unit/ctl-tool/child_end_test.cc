// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/child_end_test.cc -- how a child ended, even if signals arrive meanwhile.
#include "ctl-tool/child_end.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <functional>

#include "base/fd.h"

using namespace livebtl;

namespace {

int signals_to = -1;  // a pipe that gets a byte per signal

void hear(int) { static_cast<void>(!::write(signals_to, "", 1)); }

pid_t child_that(const std::function<void()>& ends) {
  const pid_t child = ::fork();
  if (child == 0) {
    ends();
    ::_exit(0);
  }
  return child;
}

/// Delivers signals without SA_RESTART, as btlctl receives them, as long as it lives.
class SignalsOften {
 public:
  SignalsOften() {
    struct sigaction action {};
    action.sa_handler = hear;
    ::sigaction(SIGALRM, &action, &before_);
    set(5'000);
  }
  ~SignalsOften() {
    set(0);
    ::sigaction(SIGALRM, &before_, nullptr);
  }
  SignalsOften(const SignalsOften&) = delete;
  SignalsOften& operator=(const SignalsOften&) = delete;

 private:
  static void set(suseconds_t microseconds) {
    const itimerval often{{0, microseconds}, {0, microseconds}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
  }
  struct sigaction before_ {};
};

}  // namespace

TEST_CASE("a signal while a child is waited for does not hide its exit code") {
  constexpr int kSignals = 20;  // some arrive during the wait
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const Fd heard(ends[0]), told(ends[1]);
  signals_to = told.number();
  const pid_t child = child_that([&heard] {
    char byte = 0;
    for (int i = 0; i < kSignals; ++i)
      if (::read(heard.number(), &byte, 1) != 1) ::_exit(1);
    ::_exit(4);
  });
  const SignalsOften often;
  CHECK(tool::end_of_child(child) == ExitCode::kBusy);
}

TEST_CASE("a child that was killed, or is none, has no exit code") {
  const pid_t child = child_that([] { ::raise(SIGKILL); });
  CHECK_FALSE(tool::end_of_child(child).has_value());
  CHECK_FALSE(tool::end_of_child(child).has_value());
}
