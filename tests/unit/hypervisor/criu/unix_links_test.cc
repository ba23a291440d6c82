// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/criu/unix_links_test.cc -- which Unix sockets lead out of the dumped
// processes, and who is waited for.
#include "hypervisor/criu/unix_links.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <utility>

#include "base/fd.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

/// A process that has only one descriptor: none that this process was started with. Ends when told
/// to.
class Holder {
 public:
  explicit Holder(Fd one) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const Fd settled(ends[0]);
    Fd told(ends[1]);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) hold(one.number());
    told = Fd();
    char none = 0;
    REQUIRE(::read(settled.number(), &none, 1) == 0);  // it has closed its end, and all others
  }
  ~Holder() { end(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  std::string name() const { return "(" + std::to_string(pid_) + ")"; }

 private:
  [[noreturn]] static void hold(int descriptor) {
    ::dup2(descriptor, STDIN_FILENO);
    ::close_range(STDIN_FILENO + 1, ~0u, 0);
    for (;;) ::pause();
  }

  pid_t pid_ = 0;
};

std::pair<Fd, Fd> socket_pair() {
  std::array<int, 2> both{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both.data()) == 0);
  return {Fd(both[0]), Fd(both[1])};
}

Deadline in(TimeNs duration) { return {monotonic_now() + duration, nullptr}; }

}  // namespace

TEST_CASE("a Unix socket whose other end another process has leads out, and both are named") {
  auto [here, there] = socket_pair();
  const Holder one(std::move(here)), other(std::move(there));
  const auto link = unix_link_out_of({one.pid()});
  REQUIRE(link);
  CHECK(link->find(one.name()) < link->find("connected to"));
  CHECK(link->find(other.name()) > link->find("connected to"));
  CHECK(link->find(other.name()) != std::string::npos);
  CHECK_FALSE(unix_link_out_of({one.pid(), other.pid()}));
}

TEST_CASE("one whose other end has been closed leads nowhere") {
  auto [here, there] = socket_pair();
  const Holder one(std::move(here));
  there = Fd();
  CHECK_FALSE(unix_link_out_of({one.pid()}));
}

TEST_CASE("who is connected is waited for, but not beyond the deadline") {
  auto [here, there] = socket_pair();
  const Holder one(std::move(here));
  Holder other(std::move(there));
  CHECK(wait_for_unix_links({one.pid()}, in(0)));
  std::thread ends([&other] {
    ::usleep(100'000);  // so that there is a wait; if it ends earlier the outcome is the same
    other.end();
  });
  CHECK_FALSE(wait_for_unix_links({one.pid()}, in(600 * kSecond)));
  ends.join();
}
