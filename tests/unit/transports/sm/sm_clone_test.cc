// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/sm_clone_test.cc -- what a child made by a bare clone() retains of a
// process that has ended.
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/unit/transports/sm/sm_kit.h"

namespace livebtl::sm {
namespace {

/// Process 1 listens, has a clone, and is killed. The clone lives until the leash's other end is closed.
void leave_a_clone_listening(const JobDirectory& directory, const int (&leash)[2]) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  char byte = 0;
  if (child == 0) {
    ::close(leash[1]);
    auto listening = make_side(directory, 1);
    if (::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0)  // retains all; no handler runs
      ::_exit(::read(leash[0], &byte, 1) == 0 ? 0 : 4);
    if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  for (const int fd : ready) ::close(fd);
}

}  // namespace

TEST_CASE("who dials a dead process is told so, though a clone of it keeps its listener") {
  const JobDirectory directory;
  int leash[2];
  REQUIRE(::pipe(leash) == 0);
  leave_a_clone_listening(directory, leash);
  auto side = make_side(directory, 2);
  auto dialled = side->transport->connect(contact_of(1));
  REQUIRE(dialled.has_value());  // the kernel's queue, kept by the clone, takes it
  End end;
  end.take(std::move(*dialled));
  REQUIRE(turn_until(*side, [&] { return !end.downs.empty(); }));
  CHECK(end.downs[0].code == Errc::kDown);
  for (const int fd : leash) ::close(fd);
}

}  // namespace livebtl::sm
