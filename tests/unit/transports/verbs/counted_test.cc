// SPDX-License-Identifier: BSD-3-Clause
// What livebtl does for one small message over verbs, on both ends, without the device's share:
// `scripts/bench instructions` runs this under callgrind and excludes tests/.
#include <cstdlib>

#include "tests/unit/transports/verbs/engine_kit.h"

using namespace livebtl;
using namespace livebtl::test;
using fake_verbs::World;

namespace {

constexpr std::size_t kBytes = 8;

struct Ends {
  Rig& rig;
  Destination to;
  std::vector<std::byte> data = pattern(kBytes, 7);
  std::vector<std::byte> taken = std::vector<std::byte>(kBytes);

  // One message arrives, with the calls that an application makes for it.
  void message() {
    const Slice from{data.data(), kBytes};
    const MutableSlice into{taken.data(), kBytes};
    Watched send, receive;
    ReceiveRequest wanted{.ignore = ~Tag{0}};
    wanted.slices = {&into, 1};
    REQUIRE(rig.ports[1]->receive(wanted, receive) == Accept::kAccepted);
    SendRequest request{.to = to};
    request.slices = {&from, 1};
    REQUIRE(rig.ports[0]->send(request, send) == Accept::kAccepted);
    while (receive.done_count == 0 || send.done_count == 0) {
      rig.engines[0]->progress();
      rig.engines[1]->progress();
    }
  }
};

// Named for callgrind, which counts while this runs.
[[gnu::noinline]] void counted_messages(Ends& ends, int count) {
  for (int i = 0; i < count; ++i) ends.message();
}

}  // namespace

TEST_CASE("counted messages over verbs") {
  World world;
  Rig rig(2, {kind("tcp"), verbs_of(world)}, 1, {}, 2);
  rig.until([&] {
    message(rig);
    return sends_by(rig, 0) == "verbs" && sends_by(rig, 1) == "verbs";
  });
  const char* const wanted = std::getenv("LIVEBTL_TEST_MESSAGES");
  const int count = wanted != nullptr ? std::atoi(wanted) : 100;
  Ends ends{rig, rig.to(0, 1)};
  counted_messages(ends, count);
  CHECK(ends.taken == ends.data);
  CHECK(rig.engines[1]->status().peers.front().frames_received["verbs"] >=
        static_cast<std::uint64_t>(count));
}
