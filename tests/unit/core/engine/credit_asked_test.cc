// SPDX-License-Identifier: BSD-3-Clause
// A sender that runs out of credit in bytes: it waits while the peer may give some back, and offers
// its message once the peer has said that it will not.
#include "tests/unit/core/engine/small_credit.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;

namespace {

constexpr std::size_t kCount = 60, kEach = 4000;  // 3.6 times the credit
static_assert(kCount * kEach > 3 * kBytes && kCount < kHeaders);

struct AskedMessages {
  explicit AskedMessages(Rig& in) : rig(in), sent(kCount), received(kCount) {}

  void send(std::size_t tag) {
    const Slice slice{payload.data(), payload.size()};
    const SendRequest request{.to = rig.to(0, 1), .tag = tag, .slices = {&slice, 1}};
    REQUIRE(rig.ports[0]->send(request, sent[tag]) == Accept::kAccepted);
  }
  void send_all(std::size_t first = 0) {
    for (std::size_t i = first; i < kCount; ++i) send(i);
  }
  void receive(std::size_t tag) {
    const MutableSlice slice{buffers[tag].data(), kEach};
    REQUIRE(rig.ports[1]->receive({.tag = tag, .slices = {&slice, 1}}, received[tag]) ==
            Accept::kAccepted);
  }
  /// The first one, to set up a path.
  void exchange_one() {
    receive(0);
    send(0);
    rig.until([&] { return received[0].done_count == 1; });
  }
  void receive_all() {
    for (std::size_t i = 0; i < kCount; ++i)
      if (received[i].done_count == 0) receive(i);
  }
  bool all_done() const {
    const auto done = [](const Watched& each) { return each.done_count == 1; };
    return std::ranges::all_of(sent, done) && std::ranges::all_of(received, done);
  }
  bool all_arrived() const {
    return std::ranges::all_of(buffers, [&](const auto& each) { return each == payload; });
  }

  Rig& rig;
  std::vector<std::byte> payload = std::vector<std::byte>(kEach, std::byte{3});
  std::vector<std::vector<std::byte>> buffers{kCount, std::vector<std::byte>(kEach)};
  std::vector<Watched> sent, received;
};

}  // namespace

TEST_CASE("what is received as it comes is never offered, however little credit there is") {
  for (const char* beneath : {"tcp", "sm"}) {
    CAPTURE(beneath);
    Taps taps;
    Rig rig(2, {tapped(beneath, taps, beneath)}, 1, small_credit());
    AskedMessages messages(rig);
    messages.receive_all();
    messages.send_all();
    rig.until([&] { return messages.all_done(); });
    CHECK(messages.all_arrived());
    CHECK(taps[0].posted[FrameKind::kEager] == kCount);
    CHECK(taps[0].posted[FrameKind::kRts] == 0);
  }
}

TEST_CASE(
    "what nobody receives is offered once the peer was asked, so that a later one can pass it") {
  for (const char* beneath : {"tcp", "sm"}) {
    CAPTURE(beneath);
    Taps taps;
    Rig rig(2, {tapped(beneath, taps, beneath)}, 1, small_credit());
    AskedMessages messages(rig);
    messages.exchange_one();
    auto& posted = taps[0].posted;
    const std::uint64_t probes = posted[FrameKind::kProbe];
    messages.send_all(1);
    rig.until([&] { return posted[FrameKind::kEager] + posted[FrameKind::kRts] == kCount; });
    CHECK(posted[FrameKind::kEager] <= 1 + kBytes / kEach);
    // The answer to the first question returns the credit of the one that was received.
    CHECK(posted[FrameKind::kProbe] == probes + 2);
    messages.receive(kCount - 1);
    rig.until([&] { return messages.received[kCount - 1].done_count == 1; });
    messages.receive_all();
    rig.until([&] { return messages.all_done(); });
    CHECK(messages.all_arrived());
  }
}

TEST_CASE("... also if the question is lost with its path, and another kind of path is used then") {
  Taps tcp, sm;
  core::Routing routing;
  routing.tuning["tcp"].exclusivity = 1u << 20;
  Rig rig(2, {tapped("tcp", tcp), tapped("sm", sm, "sm")}, 1, small_credit(), 1, routing);
  AskedMessages messages(rig);
  messages.exchange_one();
  auto& posted = tcp[0].posted;
  const std::uint64_t probes = posted[FrameKind::kProbe];
  tcp[1].deaf = true;
  messages.send_all(1);
  rig.until([&] { return posted[FrameKind::kProbe] == probes + 1; });
  CHECK(posted[FrameKind::kRts] == 0);
  for (auto& [rank, tap] : tcp) {
    tap.refuses = true;
    for (core::EndpointSink* sink : std::set(tap.sinks))
      sink->on_down({Errc::kDown, "the test breaks it"});
  }
  rig.until([&] { return sm[0].posted[FrameKind::kRts] > 0; });
  messages.receive_all();
  rig.until([&] { return messages.all_done(); });
  CHECK(messages.all_arrived());
}
