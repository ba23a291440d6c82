// SPDX-License-Identifier: BSD-3-Clause
// Data of a large message that follow its offer at once: if a receive waits they need not be
// requested; if none does they are dropped and sent again.
#include "core/lane/ahead.h"

#include "tests/unit/core/engine/ladder.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;
using core::Rung;

namespace {

/// Size of each large message: more than any transport sends at once.
constexpr std::size_t kAheadBytes = 40000;

/// Rank 0 sends to rank 1.
class AheadMessages {
 public:
  explicit AheadMessages(const char* beneath) : rig(2, {tapped(beneath, taps, beneath)}) {
    small();  // so that there is a path
  }
  /// Over alpha, or over beta.
  AheadMessages()
      : rig(2, {tapped("alpha", taps), tapped("beta", beta)}, 1, {}, 1, prefer("alpha")) {
    small();
  }
  ~AheadMessages() { rig.ports.clear(); }

  void send(std::size_t i) {
    const Slice slice{out.data(), out.size()};
    REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1), .tag = i, .slices = {&slice, 1}}, sent[i]) ==
            Accept::kAccepted);
  }
  void receive(std::size_t i, std::size_t bytes = kAheadBytes) {
    const MutableSlice slice{in[i].data(), bytes};
    REQUIRE(rig.ports[1]->receive({.tag = i, .slices = {&slice, 1}}, received[i]) ==
            Accept::kAccepted);
  }
  /// Then all that was sent before has arrived.
  void small() {
    Watched send, receive;
    REQUIRE(rig.ports[1]->receive({.tag = 99}, receive) == Accept::kAccepted);
    REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1), .tag = 99}, send) == Accept::kAccepted);
    rig.until([&] { return send.done_count + receive.done_count == 2; });
  }
  void until_done(std::size_t i) {
    rig.until([&] { return sent[i].done_count == 1 && received[i].done_count == 1; });
    CHECK(sent[i].completion.code == Errc::kOk);
    CHECK(received[i].completion.code == Errc::kOk);
    CHECK(in[i] == out);
  }
  std::uint64_t data() { return taps[0].posted[FrameKind::kData]; }

  Taps taps, beta;
  Rig rig;
  const std::vector<std::byte> out = pattern(kAheadBytes, 7);
  std::vector<std::vector<std::byte>> in{4, std::vector<std::byte>(kAheadBytes)};
  std::vector<Watched> sent{4}, received{4};
};

constexpr const char* kTransports[] = {"tcp", "sm"};

}  // namespace

TEST_CASE("who waits for a large message has it before anything was asked for") {
  for (const char* beneath : kTransports) {
    CAPTURE(beneath);
    AheadMessages messages(beneath);
    messages.receive(0);
    messages.taps[1].busy = true;
    messages.send(0);
    messages.rig.until([&] { return messages.received[0].done_count == 1; });
    CHECK(messages.taps[1].posted[FrameKind::kCts] == 0);
    CHECK(messages.sent[0].done_count == 0);
    const std::uint64_t data = messages.data();
    messages.taps[1].busy = false;
    messages.until_done(0);
    CHECK(messages.data() == data);  // once
  }
}

TEST_CASE("data of one message at a time go ahead") {
  AheadMessages messages("tcp");
  messages.receive(0);
  messages.receive(1);
  messages.taps[1].busy = true;
  messages.send(0);
  messages.send(1);
  messages.rig.until([&] { return messages.received[0].done_count == 1; });
  messages.small();
  CHECK(messages.received[1].done_count == 0);
  messages.taps[1].busy = false;
  messages.until_done(1);
}

TEST_CASE(
    "data that nobody waits for come again, and the next ones wait until they are asked for") {
  for (const char* beneath : kTransports) {
    CAPTURE(beneath);
    AheadMessages messages(beneath);
    std::uint64_t once = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      CAPTURE(i);
      // One is left out after the first drop, three after the next.
      const bool ahead = i == 0 || i == 2;
      const std::uint64_t before = messages.data();
      messages.send(i);
      messages.small();
      CHECK((messages.data() > before) == ahead);
      if (i == 0) once = messages.data() - before;
      messages.receive(i);
      messages.until_done(i);
      CHECK(messages.data() - before == (ahead ? 2 * once : once));
    }
  }
}

TEST_CASE(
    "a buffer that is too short gets the beginning, and what goes beyond it changes nothing") {
  for (const char* beneath : kTransports) {
    CAPTURE(beneath);
    AheadMessages messages(beneath);
    constexpr std::size_t kShort = kAheadBytes / 2 + 100;
    messages.receive(0, kShort);
    messages.send(0);
    messages.rig.until(
        [&] { return messages.sent[0].done_count == 1 && messages.received[0].done_count == 1; });
    CHECK(messages.received[0].completion.code == Errc::kTruncated);
    CHECK(messages.received[0].completion.bytes == kShort);
    CHECK(std::equal(messages.out.begin(), messages.out.begin() + kShort, messages.in[0].begin()));
    CHECK(std::all_of(messages.in[0].begin() + kShort, messages.in[0].end(),
                      [](std::byte each) { return each == std::byte{0}; }));
  }
}

TEST_CASE("data that went ahead over a path that is lost come over the next one") {
  AheadMessages messages("tcp");
  messages.receive(0);
  messages.taps[1].deaf = true;
  messages.send(0);
  messages.rig.until([&] { return messages.data() > 0; });
  for (auto& [rank, tap] : messages.taps) {
    for (core::EndpointSink* sink : std::set(tap.sinks))
      sink->on_down({Errc::kDown, "the test breaks it"});
  }
  messages.taps[1].deaf = false;
  messages.until_done(0);
}

// The first message ends while its data sent ahead are stuck on the path that the pair has left.
TEST_CASE(
    "data that come when their message has ended do not hide that those of another were dropped") {
  AheadMessages messages;
  core::Routing after = prefer("alpha");
  after.moved["alpha"] = "beta";
  Ladder ladder{messages.rig, [] {}, prefer("alpha"), 1, 1};
  ladder.climb_to(Rung::kJoint, after);
  messages.rig.pass(0);  // from now on no time passes: nobody is probed
  messages.taps[0].no_data = true;
  messages.send(0);
  messages.small();  // the offer has arrived
  messages.taps[1].deaf = true;
  messages.taps[0].no_data = false;
  messages.rig.until([&] { return messages.data() > 0; });
  ladder.order(0, Rung::kNewTx, after);
  REQUIRE(used(messages.rig, 0, 1) == "beta");
  messages.receive(0, kAheadBytes / 2);
  messages.rig.until([&] { return messages.sent[0].done_count == 1; });
  messages.send(1);  // no data ahead, since the last were in vain
  messages.receive(1);
  messages.until_done(1);
  const std::uint64_t before = messages.beta[0].posted[FrameKind::kData];
  messages.send(2);
  messages.small();
  CHECK(messages.beta[0].posted[FrameKind::kData] > before);
  messages.taps[1].deaf = false;
  messages.rig.until([&] { return messages.taps[1].posted[FrameKind::kMarkerAck] != 0; });
  messages.receive(2);
  messages.until_done(2);
}

TEST_CASE(
    "data count that were not dropped, whatever was dropped of others, before or after the offer") {
  core::TakenAhead ahead;
  ahead.offer(1);
  ahead.drop(1);
  CHECK_FALSE(ahead.begin(1, 10));
  ahead.offer(2);
  CHECK(ahead.begin(2, 20));
  CHECK(ahead.handle_of(2) == 20);
  CHECK(ahead.handle_of(1) == 0);
  ahead.drop(2);  // late: the message has ended
  ahead.offer(3);
  ahead.drop(1);
  CHECK(ahead.begin(3, 30));
  ahead.drop(5);  // its offer comes after its data
  ahead.drop(3);
  ahead.drop(1);
  ahead.offer(5);
  CHECK_FALSE(ahead.begin(5, 50));
  ahead.offer(6);
  ahead.drop(6);
  ahead.drop(1);
  CHECK_FALSE(ahead.begin(6, 60));
}

TEST_CASE("who gives up a message whose data went ahead tells it") {
  AheadMessages messages("tcp");
  messages.send(0);
  messages.small();
  CHECK(messages.data() > 0);
  messages.rig.ports[0].reset();
  CHECK(messages.sent[0].done_count == 1);
  messages.receive(0);
  messages.rig.until([&] { return messages.received[0].done_count == 1; });
  CHECK(messages.received[0].completion.code == Errc::kCancelled);
}

TEST_CASE(
    "the more offers in a row went ahead in vain, the longer none does; one that did not ends it") {
  core::SentAhead ahead;
  std::uint64_t name = 0;
  const auto left_out = [&] {
    int count = 0;
    while (!ahead.choose(++name)) ++count;
    return count;
  };
  const auto go_ahead = [&](bool taken) {
    const int count = left_out();
    CHECK_FALSE(ahead.choose(name + 1));  // only one at a time
    ahead.answered(taken);
    ahead.ended(name);
    return count;
  };
  int expected = 0;
  for (int i = 0; i < 7; ++i, expected = 2 * expected + 1) CHECK(go_ahead(false) == expected);
  CHECK(go_ahead(false) == expected);
  CHECK(go_ahead(true) == expected);
  CHECK(go_ahead(true) == 0);
}
