// SPDX-License-Identifier: BSD-3-Clause
// Lines from a caller that goes on, ends, falls silent, or does not read.
#include "hypervisor/criu/node_door.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "hypervisor/criu/node_words.h"
#include "hypervisor/vm/child.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

/// Restores this process's handler for SIGPIPE.
struct PipeSignal {
  void (*before)(int) = ::signal(SIGPIPE, SIG_DFL);
  ~PipeSignal() { ::signal(SIGPIPE, before); }
};

void write_to(const Fd& end, const std::string& text) {
  REQUIRE(::write(end.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

}  // namespace

TEST_CASE("a caller is heard line by line, until it is gone") {
  const PipeSignal as_before;
  auto in = make_pipe();
  REQUIRE(in);
  const NodeDoor door = node_door(in->read.number(), -1);
  write_to(in->write, "one\ntwo\nhal");
  CHECK(door.hear(kSecond) == "one");
  CHECK(door.hear(kSecond) == "two");
  write_to(in->write, "f\n");
  CHECK(door.hear(kSecond) == "half");
  in->write.reset();
  CHECK(door.hear(600 * kSecond) == std::nullopt);
}

TEST_CASE("a caller that says nothing any more is waited for that long, though it is not gone") {
  const PipeSignal as_before;
  auto in = make_pipe();
  REQUIRE(in);
  const NodeDoor door = node_door(in->read.number(), -1);
  write_to(in->write, "without an end");
  const TimeNs begun = monotonic_now();
  CHECK(door.hear(300 * kMillisecond) == std::nullopt);
  CHECK(monotonic_now() - begun >= 300 * kMillisecond);
}

TEST_CASE("a caller that is gone before it is answered ends nothing") {
  const PipeSignal as_before;
  auto in = make_pipe();
  auto out = make_pipe();
  REQUIRE((in && out));
  const NodeDoor door = node_door(in->read.number(), out->write.number());
  out->read.reset();
  door.say("done");
  write_to(in->write, "still here\n");
  CHECK(door.hear(kSecond) == "still here");
}

TEST_CASE("the longest answer passes, whatever a pipe holds") {
  const PipeSignal as_before;
  auto out = make_pipe();
  REQUIRE(out);
  const NodeDoor door = node_door(-1, out->write.number());
  const std::string line(kNodeLineBytesMax - 1, 'x');
  std::string heard;
  std::thread reader([&] {
    while (!heard.ends_with('\n') && read_some(out->read.number(), heard, kNodeLineBytesMax)) {
    }
  });
  door.say(line);
  reader.join();
  CHECK(heard == line + "\n");
}
