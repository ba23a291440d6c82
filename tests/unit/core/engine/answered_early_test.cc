// SPDX-License-Identifier: BSD-3-Clause
// A member guesses the names of requests and answers those that still wait here: their memory is in
// a queue, and must not be handed back to the user.
#include "core/lane/frame.h"
#include "tests/unit/core/engine/hostile_member.h"
#include "tests/unit/core/engine/small_credit.h"
#include "tests/unit/core/engine/traffic.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;

namespace {

constexpr std::size_t kSmall = 8, kLarge = 100'000;

/// A rank with more requests to a member than may be open at once: the last ones wait.
struct Waiting {
  explicit Waiting(std::size_t bytes) : memory(bytes) {
    for (Watched& put : puts) {
      const Slice slice{memory.data(), memory.size()};
      PutRequest request{.to = *rig.engines[0]->peer(address()), .remote = {kKey, 0}};
      request.slices = {&slice, 1};
      REQUIRE(rig.ports[0]->put(request, put) == Accept::kAccepted);
    }
    const auto kind = bytes == kSmall ? FrameKind::kPut : FrameKind::kRts;
    member.until([&] { return member.came(kind) == core::kOpenRequestsMax; });
  }
  ~Waiting() { rig.ports.clear(); }
  static Address address() {
    return core::encode_address(ProcessId{HostileMember::kProcess}, 1, {});
  }
  std::vector<std::byte> memory;
  Watched puts[core::kOpenRequestsMax + 1];
  Rig rig = Rig(2, {kind("self"), kind("tcp")}, 1, small_credit());
  Traffic traffic{rig};
  HostileMember member{rig};
};

void expect_end(Waiting& at) {
  at.member.until([&] { return at.puts[0].done_count != 0; });
  CHECK(at.member.seen().lost);
  for (const Watched& put : at.puts) {
    CHECK(put.done_count == 1);
    CHECK(put.completion.code == Errc::kPeerLost);
  }
  run(at.rig, at.traffic, 5);  // the honest pair goes on
}

constexpr std::uint64_t kFirstThatWaits = core::kOpenRequestsMax + 1;  // names start at 1

}  // namespace

TEST_CASE("a put that waits and is answered ends with its peer, once") {
  Waiting at(kSmall);
  at.member.send(FrameKind::kDone, core::FinBody{kFirstThatWaits, 0, 0});
  expect_end(at);
}

TEST_CASE("a put that is answered as a get ends with its peer: there is no buffer for the data") {
  Waiting at(kSmall);
  at.member.send(FrameKind::kRts, core::RtsBody{1, 0, kSmall, 1}, {}, core::kFlagGet);
  at.member.turn();
  at.member.send_data({1, 0}, Bytes(at.memory.data(), kSmall));
  expect_end(at);
}

TEST_CASE("... and an offer that waits and is taken or ended") {
  SUBCASE("ended") {
    Waiting at(kLarge);
    at.member.send(FrameKind::kFin, core::FinBody{kFirstThatWaits, 0, 0});
    expect_end(at);
  }
  SUBCASE("taken") {
    Waiting at(kLarge);
    at.member.send(FrameKind::kCts, core::CtsBody{kFirstThatWaits, 0, kLarge, 1, 1, 0});
    expect_end(at);
  }
}
