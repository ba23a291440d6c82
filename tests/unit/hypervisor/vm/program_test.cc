// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/vm/program_test.cc -- programs are run, bounded in time and output.
#include "hypervisor/vm/program.h"

#include <doctest/doctest.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>

#include "hypervisor/vm/child.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

Deadline in(TimeNs time) { return {monotonic_now() + time, nullptr}; }

/// While it lives, this thread may signal only its own user's processes, as if it were not root's.
class SignalsNobody {
 public:
  SignalsNobody() {
    REQUIRE(::syscall(SYS_capget, &header_, before_) == 0);
    __user_cap_data_struct without[2] = {before_[0], before_[1]};
    without[0].effective &= ~(1U << CAP_KILL);
    REQUIRE(::syscall(SYS_capset, &header_, without) == 0);
  }
  ~SignalsNobody() { ::syscall(SYS_capset, &header_, before_); }

 private:
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct before_[2]{};
};

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

TEST_CASE("more output is kept where that is asked for") {
  const auto done = run_program({"sh", "-c", "head -c 3000000 /dev/zero"}, in(60 * kSecond),
                                kSecond, std::size_t{4} << 20);
  REQUIRE(done);
  CHECK(done->output.size() == 3'000'000);
}

TEST_CASE("a program that has become another user is not waited for without end") {
  if (::geteuid() != 0) return;  // needs root, to become another user
  std::string file = "/tmp/livebtl-program-XXXXXX";
  const Fd made(::mkstemp(file.data()));
  REQUIRE(made);
  const TimeNs begin = monotonic_now();
  {
    const SignalsNobody signals_nobody;
    const auto left = run_program({"sh", "-c",
                                   "echo $$ >" + file +
                                       "; exec setpriv --reuid=65534 --regid=65534 "
                                       "--clear-groups sleep 600"},
                                  in(2 * kSecond), kSecond / 4);
    REQUIRE(!left);
    CHECK(left.error().code == Errc::kTimeout);
    CHECK(left.error().text.find("cannot be ended from here") != std::string::npos);
  }
  CHECK(monotonic_now() - begin < 60 * kSecond);
  pid_t child = 0;
  std::ifstream(file) >> child;
  ::unlink(file.c_str());
  REQUIRE(child > 1);
  REQUIRE(::kill(child, SIGKILL) == 0);
  siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  REQUIRE(run_program({"true"}, in(60 * kSecond), kSecond));
  CHECK(::waitpid(child, nullptr, WNOHANG) == -1);  // it was reaped
  CHECK(errno == ECHILD);
}

TEST_CASE("a stop ends the wait") {
  std::atomic<bool> stop{true};
  const auto done =
      run_program({"sleep", "600"}, {monotonic_now() + 600 * kSecond, &stop}, kSecond);
  CHECK(!done);
}

TEST_CASE("a program is out of reach of the terminal's keys: it has a process group of its own") {
  const auto done =
      run_program({"sh", "-c", "echo $$; cut -d' ' -f5 /proc/$$/stat"}, in(60 * kSecond), kSecond);
  REQUIRE(done);
  const auto half = done->output.find('\n');
  REQUIRE(half != std::string::npos);
  CHECK(done->output.substr(0, half) + "\n" == done->output.substr(half + 1));
}

TEST_CASE("a program that writes to nobody ends, also if this process would not") {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const auto done =
      run_program({"sh", "-c", "kill -PIPE $$; echo alive"}, in(60 * kSecond), kSecond);
  ::signal(SIGPIPE, before);
  REQUIRE(done);
  CHECK(done->code == 128 + SIGPIPE);
  CHECK(done->output.empty());
}

TEST_CASE("a program whose time does not come is waited for until it ends") {
  const auto done = run_program({"sh", "-c", "sleep 0.3; exit 4"}, {kNever, nullptr}, 0);
  REQUIRE(done);
  CHECK(done->code == 4);
}

TEST_CASE("the end of a program is seen without a descriptor of it, too") {
  const auto child = spawn_program({"sleep", "0.1"}, -1, 1, 2);
  REQUIRE(child);
  CHECK(wait_for_child(*child, Fd(), monotonic_now() + 60 * kSecond));
  CHECK(reap(*child) == 0);
  const auto sleeper = spawn_program({"sleep", "600"}, -1, 1, 2);
  REQUIRE(sleeper);
  CHECK_FALSE(wait_for_child(*sleeper, Fd(), monotonic_now()));
  ::kill(*sleeper, SIGKILL);
  CHECK(reap(*sleeper) == 128 + SIGKILL);
}
