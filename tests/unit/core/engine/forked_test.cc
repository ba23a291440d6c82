// SPDX-License-Identifier: BSD-3-Clause
// A child, by fork(), of a process with open ports: it destroys nothing of its parent's.
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

constexpr std::size_t kLargeBytes = 1 << 20;

/// Closes the ports in a child, which then exits; only the parent returns. posted: an operation of
/// the parent's.
void close_in_child(Rig& rig, const Watched& posted) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    rig.ports.clear();
    ::_exit(posted.done_count == 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace

TEST_CASE("a forked child that closes its ports takes nothing of its parent's away") {
  for (const char* beneath : {"sm", "tcp"}) {
    CAPTURE(beneath);
    Taps taps;
    Rig rig(2, {kind("self"), tapped(beneath, taps, beneath)});
    const std::vector<std::byte> out = pattern(kLargeBytes, 3);
    std::vector<std::byte> in(kLargeBytes);
    const Slice from{out.data(), out.size()};
    const MutableSlice to{in.data(), in.size()};
    Watched send, receive, unmatched;
    REQUIRE(rig.ports[1]->receive({.tag = 1, .slices = {&to, 1}}, receive) == Accept::kAccepted);
    REQUIRE(rig.ports[0]->receive({.tag = 2, .slices = {}}, unmatched) == Accept::kAccepted);
    REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1), .tag = 1, .slices = {&from, 1}}, send) ==
            Accept::kAccepted);
    // Until the first data lie there, unread by the receiver.
    rig.until([&] {
      taps[1].deaf = taps[0].posted[core::FrameKind::kData] != 0;
      return taps[1].deaf.load();
    });
    close_in_child(rig, unmatched);
    taps[1].deaf = false;
    rig.until([&] { return send.done_count == 1 && receive.done_count == 1; });
    CHECK(receive.completion.code == Errc::kOk);
    CHECK(in == out);
    CHECK(lost(rig, beneath) == 0);
    rig.ports.clear();  // before `unmatched` is destroyed
  }
}

TEST_CASE("a forked child ends its waker though the agent was just calling it") {
  Rig rig(2, {kind("self"), kind("sm")});
  bool armed = false;
  int id = 0, status = -1;
  // In the agent's turn, which holds what guards the wakers.
  id = rig.engines[1]->add_waker([&] {
    if (!armed || status != -1) return;
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);  // not forever
      rig.engines[1]->remove_waker(id);
      ::_exit(0);
    }
    if (::waitpid(child, &status, 0) != child) status = -2;
  });
  const auto post = [&] {
    return rig.ports[0]->inject({.to = rig.to(0, 1), .tag = 1}) == Accept::kAccepted;
  };
  rig.until(post);  // they are connected
  rig.pass_away(kSecond, 1);
  armed = true;
  REQUIRE(post());
  rig.pass_away(2 * kSecond, 1);
  CHECK(status == 0);
}
