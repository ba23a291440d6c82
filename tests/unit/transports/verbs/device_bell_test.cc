// SPDX-License-Identifier: BSD-3-Clause
// A thread with its own credentials, as every thread has after a restore by CRIU, sends over a
// device of this machine that another thread has opened. If no port can be used it says why.
#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <thread>

#include "tests/conformance/rig.h"
#include "transports/verbs/verbs_bell.h"
#include "transports/verbs/verbs_transport.h"

using namespace livebtl;
using namespace livebtl::conformance;

namespace {

Subject device(const Settings& settings) {
  Subject subject;
  subject.name = "verbs";
  subject.make = [&settings](std::uint64_t process) {
    core::NodeFacts facts;
    facts.process = ProcessId{process};
    facts.node = process;
    facts.settings = &settings;
    return verbs::verbs_kinds(settings.verbs_device, 1).value().front().make(facts);
  };
  return subject;
}

/// Does the kernel take commands by write(2) from this thread? One byte is no command:
/// if it does, it says so.
bool may_write(const Transport& transport) {
  const int command_fd = transport.holds_device()->descriptors().at(1);
  REQUIRE(::write(command_fd, "", 1) == -1);
  return errno != EACCES;
}

}  // namespace

TEST_CASE("a thread with credentials of its own sends over a device that another has opened") {
  const auto settings = read_settings_from_environment();
  REQUIRE(settings.has_value());
  const Subject subject = device(*settings);
  if (const auto tried = subject.make(1); !tried) {
    std::printf("skipped: %s\n", tried.error().text.c_str());
    return;
  }
  Rig rig(subject);
  CHECK(may_write(*rig.a().transport));
  bool ours = true, arrived = false;
  std::thread([&] {
    // The kernel gives the calling thread new credentials, equal to the old ones.
    if (::prctl(PR_SET_KEEPCAPS, 1) != 0) return;
    ours = may_write(*rig.a().transport);
    Link link = rig.link();
    arrived = transfer(rig, *link.a, *link.b, {{1, 8, 8}, {2, 64, 30000}}) &&
              transfer(rig, *link.b, *link.a, {{3, 8, 30000}});
  }).join();
  CHECK(!ours);
  CHECK(arrived);
}

TEST_CASE("what is no device of that driver takes no bell") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  CHECK(verbs::ring_soft_roce(ends[0], 1) == ENOTTY);
  CHECK(verbs::ring_soft_roce(-1, 1) == EBADF);
  ::close(ends[0]);
  ::close(ends[1]);
}
