// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/criu/unix_links_test.cc -- which Unix sockets lead out of the processes that are dumped, and who is
// waited for.
#include "hypervisor/criu/unix_links.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <utility>

#include "base/fd.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

struct SocketPair {
  SocketPair() {
    std::array<int, 2> both{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both.data()) == 0);
    one = Fd(both[0]);
    other = Fd(both[1]);
  }
  Fd one, other;
};

/// Has one end of the pair, and nothing else of it; ends when it is told to.
class Neighbour {
 public:
  explicit Neighbour(SocketPair& pair) : pid_(::fork()) {
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      pair.one = Fd();
      for (;;) ::pause();
    }
    pair.other = Fd();
  }
  ~Neighbour() { end(); }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

Deadline in(TimeNs duration) { return {monotonic_now() + duration, nullptr}; }

}  // namespace

TEST_CASE("a Unix socket whose other end another process has leads out, and both are named") {
  SocketPair pair;
  CHECK_FALSE(unix_link_out_of({::getpid()}));
  const Neighbour other(pair);
  const auto link = unix_link_out_of({::getpid()});
  REQUIRE(link);
  CHECK(link->find("(" + std::to_string(::getpid()) + ")") < link->find("connected to"));
  CHECK(link->find("(" + std::to_string(other.pid()) + ")") > link->find("connected to"));
  CHECK_FALSE(unix_link_out_of({::getpid(), other.pid()}));
}

TEST_CASE("one whose other end has been closed leads nowhere") {
  SocketPair pair;
  Neighbour other(pair);
  other.end();
  CHECK_FALSE(unix_link_out_of({::getpid()}));
}

TEST_CASE("who is connected is waited for, but not beyond the deadline") {
  SocketPair pair;
  Neighbour other(pair);
  CHECK(wait_for_unix_links({::getpid()}, in(0)));
  std::thread ends([&other] {
    ::usleep(100'000);
    other.end();
  });
  CHECK_FALSE(wait_for_unix_links({::getpid()}, in(600 * kSecond)));
  ends.join();
}
