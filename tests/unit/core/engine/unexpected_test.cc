// SPDX-License-Identifier: BSD-3-Clause
// Messages that come before their receives, far more than there is credit for: as long as the receiver has memory, the
// one that it waits for comes behind all of them.
#include "tests/unit/core/engine/small_credit.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;

namespace {

constexpr Tag kOthersTag = 1, kAwaitedTag = 2;

struct Unreceived {
  Unreceived(std::size_t message_count, std::size_t bytes_of_each, std::uint32_t memory,
             const char* beneath)
      : rig(2, {tapped(beneath, taps, beneath)}, 1, small_credit(memory)),
        count(message_count),
        payload(bytes_of_each, std::byte{9}),
        sent(message_count + 1),
        received(message_count + 1),
        buffers(message_count, std::vector<std::byte>(bytes_of_each)) {}

  Accept send(std::size_t at, Tag tag, std::size_t bytes) {
    const Slice slice{payload.data(), bytes};
    return rig.ports[0]->send({.to = rig.to(0, 1), .tag = tag, .slices = {&slice, 1}}, sent[at]);
  }
  /// All of the first kind, and behind them the one that is waited for.
  void send_all() {
    for (std::size_t i = 0; i < count; ++i)
      REQUIRE(send(i, kOthersTag, payload.size()) == Accept::kAccepted);
    REQUIRE(send(count, kAwaitedTag, 0) == Accept::kAccepted);
  }
  void receive_last() {
    REQUIRE(rig.ports[1]->receive({.tag = kAwaitedTag, .slices = {}}, received[count]) ==
            Accept::kAccepted);
  }
  bool has_last() const { return received[count].done_count == 1; }
  void receive_all() {
    for (std::size_t i = 0; i < count; ++i) {
      const MutableSlice slice{buffers[i].data(), buffers[i].size()};
      REQUIRE(rig.ports[1]->receive({.tag = kOthersTag, .slices = {&slice, 1}}, received[i]) ==
              Accept::kAccepted);
    }
  }
  void expect_all() {
    receive_all();
    const auto done = [](const Watched& each) { return each.done_count == 1; };
    rig.until(
        [&] { return std::ranges::all_of(sent, done) && std::ranges::all_of(received, done); });
    CHECK(std::ranges::all_of(buffers, [&](const auto& each) { return each == payload; }));
  }
  std::uint64_t posted(FrameKind kind) { return taps[0].posted[kind]; }

  Taps taps;
  Rig rig;
  std::size_t count;
  std::vector<std::byte> payload;
  std::vector<Watched> sent, received;
  std::vector<std::vector<std::byte>> buffers;
};

}  // namespace

TEST_CASE("the message that is waited for passes any number of others") {
  for (const char* beneath : {"tcp", "sm"}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{4000}}) {
      CAPTURE(beneath);
      CAPTURE(bytes);
      Unreceived messages(5 * kHeaders, bytes, 16u << 20, beneath);
      messages.send_all();
      messages.receive_last();
      messages.rig.until([&] { return messages.has_last(); });
      CHECK(messages.posted(FrameKind::kRts) == 0);
      messages.expect_all();
    }
  }
}

TEST_CASE("... also when they are injected") {
  constexpr std::size_t kInjected = 40, kEach = 4096;  // 2.5 times the credit in bytes
  Unreceived messages(kInjected, kEach, 16u << 20, "tcp");
  for (std::size_t i = 0; i < kInjected; ++i) {
    const Slice slice{messages.payload.data(), kEach};
    const SendRequest request{
        .to = messages.rig.to(0, 1), .tag = kOthersTag, .slices = {&slice, 1}};
    REQUIRE(messages.rig.ports[0]->inject(request) == Accept::kAccepted);
    messages.sent[i].done_count = 1;
  }
  REQUIRE(messages.send(kInjected, kAwaitedTag, 0) == Accept::kAccepted);
  messages.receive_last();
  messages.rig.until([&] { return messages.has_last(); });
  messages.expect_all();
}

TEST_CASE("... or of large ones, which are offered") {
  Unreceived messages(3 * kHeaders, 40'000, 16u << 20, "tcp");
  messages.send_all();
  messages.receive_last();
  messages.rig.until([&] { return messages.has_last(); });
  messages.expect_all();
}

TEST_CASE("payload takes half of the memory; beyond that messages are offered, which takes less") {
  constexpr std::size_t kEach = 4000;
  constexpr std::uint32_t kMemory = 256u << 10;
  Unreceived messages(120, kEach, kMemory, "tcp");
  messages.send_all();
  messages.receive_last();
  messages.rig.until([&] { return messages.has_last(); });
  CHECK(messages.posted(FrameKind::kEager) <= 2 + (kMemory / 2 + kBytes) / kEach);
  CHECK(messages.posted(FrameKind::kRts) > 0);
  messages.expect_all();
}

TEST_CASE("without memory messages wait at their sender, and come once others are received") {
  constexpr std::uint32_t kMemory = 8u << 10;
  constexpr std::size_t kRoom = kHeaders + kMemory / core::Unexpected::kMemoryBytesMin;
  Unreceived messages(3 * kRoom, 0, kMemory, "tcp");
  messages.send_all();
  messages.receive_last();
  messages.rig.until([&] { return messages.posted(FrameKind::kEager) >= kHeaders; });
  for (int i = 0; i < 1000; ++i) messages.rig.pass(kMillisecond);
  CHECK(messages.posted(FrameKind::kEager) <= kRoom);
  CHECK_FALSE(messages.has_last());
  messages.expect_all();
}

TEST_CASE("what one message of many took is room for others once it is received") {
  Unreceived messages(2 * kHeaders, 8, 16u << 10, "tcp");
  for (int turn = 0; turn < 20; ++turn) {
    for (Watched& each : messages.sent) each.done_count = 0;
    for (Watched& each : messages.received) each.done_count = 0;
    messages.send_all();
    messages.receive_last();
    messages.rig.until([&] { return messages.has_last(); });
    messages.expect_all();
  }
}

TEST_CASE("credit that answers were in the way of comes back when these have gone") {
  Unreceived messages(3 * kHeaders, 40'000, 16u << 20, "tcp");
  std::vector<Watched> behind(2 * kHeaders);
  const Slice large{messages.payload.data(), messages.payload.size()};
  for (std::size_t i = 0; i < messages.count; ++i)
    REQUIRE(messages.send(i, kOthersTag, messages.payload.size()) == Accept::kAccepted);
  messages.rig.until([&] { return messages.posted(FrameKind::kRts) == messages.count; });
  for (int i = 0; i < 10; ++i)
    messages.rig.pass(kMillisecond);  // stored, and the credit for them is back
  messages.taps[1].busy = true;
  messages.receive_all();  // more answers than the credit in headers, and none can be posted
  for (Watched& each : behind) {
    const SendRequest request{
        .to = messages.rig.to(0, 1), .tag = kAwaitedTag + 1, .slices = {&large, 1}};
    REQUIRE(messages.rig.ports[0]->send(request, each) == Accept::kAccepted);
  }
  REQUIRE(messages.send(messages.count, kAwaitedTag, 0) == Accept::kAccepted);
  messages.receive_last();
  messages.rig.until([&] { return messages.posted(FrameKind::kRts) > messages.count; });
  for (int i = 0; i < 10; ++i) messages.rig.pass(kMillisecond);
  messages.taps[1].busy = false;
  messages.rig.until([&] {
    messages.rig.pass(kMillisecond);
    return messages.has_last();
  });
  messages.rig.ports.clear();
}

TEST_CASE("credit that memory was in the way of comes back when others have given theirs back") {
  constexpr std::uint32_t kMemory = 32u << 10;
  constexpr std::size_t kRoom = kMemory / core::Unexpected::kMemoryBytesMin;
  constexpr std::size_t kFills = kRoom + kHeaders / 2;
  static_assert(kHeaders < kRoom / 2);
  Rig rig(3, {kind("tcp")}, 1, small_credit(kMemory));
  std::vector<Watched> filling(kFills), filled(kFills), behind(kHeaders + 1);
  Watched awaited;
  const auto send = [&](std::size_t from, Tag tag, Watched& sent) {
    REQUIRE(rig.ports[from]->send({.to = rig.to(from, 1), .tag = tag, .slices = {}}, sent) ==
            Accept::kAccepted);
  };
  for (Watched& each : filling) send(0, kOthersTag, each);
  rig.until([&] {
    return std::ranges::all_of(filling, [](auto& each) { return each.done_count == 1; });
  });
  for (int i = 0; i < 10; ++i) rig.pass(kMillisecond);
  for (std::size_t i = 0; i < kHeaders; ++i) send(2, kAwaitedTag + 1, behind[i]);
  send(2, kAwaitedTag, behind[kHeaders]);
  REQUIRE(rig.ports[1]->receive({.tag = kAwaitedTag, .slices = {}}, awaited) == Accept::kAccepted);
  for (int i = 0; i < 100; ++i) rig.pass(kMillisecond);
  CHECK(awaited.done_count == 0);
  for (Watched& each : filled)
    REQUIRE(rig.ports[1]->receive({.tag = kOthersTag, .slices = {}}, each) == Accept::kAccepted);
  rig.until([&] {
    rig.pass(kMillisecond);
    return awaited.done_count == 1;
  });
  rig.ports.clear();
}

TEST_CASE("a port whose operations wait keeps no copies, and is never busy") {
  Settings settings = small_credit();
  settings.operations_max = 16;
  Rig rig(2, {kind("tcp")}, 1, settings);
  PortOptions options;
  options.waits_in_operations = true;
  auto port = rig.engines[0]->open_port(options);
  REQUIRE(port);
  const SendRequest request{.to = rig.to(0, 1), .tag = kOthersTag, .slices = {}};
  CHECK((*port)->inject(request) == Accept::kBusy);  // there is no path yet
  std::vector<Watched> sent(4 * kHeaders);
  for (Watched& each : sent) REQUIRE((*port)->send(request, each) == Accept::kAccepted);
  Watched more;
  for (int i = 0; i < 16; ++i) rig.pass(kMillisecond);
  CHECK((*port)->inject(request) == Accept::kBusy);  // nor credit
  REQUIRE((*port)->send(request, more) == Accept::kAccepted);
  port->reset();
  CHECK(more.done_count == 1);
}

TEST_CASE("one that waits for credit is told of the little that there is") {
  constexpr std::size_t kFew = kHeaders / 8;  // told by itself is more than a quarter
  for (const char* beneath : {"tcp", "sm"}) {
    CAPTURE(beneath);
    Unreceived messages(kHeaders - kFew, 0, 0, beneath);
    for (std::size_t i = 0; i < messages.count; ++i)
      REQUIRE(messages.send(i, kOthersTag, 0) == Accept::kAccepted);
    for (std::size_t i = 0; i < kFew; ++i) {
      messages.receive_last();
      REQUIRE(messages.send(messages.count, kAwaitedTag, 0) == Accept::kAccepted);
      messages.rig.until([&] { return messages.has_last(); });
      messages.received[messages.count].done_count = 0;
    }
    messages.receive_last();
    REQUIRE(messages.send(messages.count, kAwaitedTag, 0) == Accept::kAccepted);
    messages.rig.until([&] { return messages.has_last(); });
    messages.sent[messages.count].done_count = 1;
    messages.expect_all();
  }
}

TEST_CASE("... also of what is given back after it has asked") {
  for (const char* beneath : {"tcp", "sm"}) {
    CAPTURE(std::string(beneath));
    Unreceived messages(kHeaders, 0, 0, beneath);
    messages.send_all();
    messages.receive_last();
    for (int i = 0; i < 100; ++i) messages.rig.pass(kMillisecond);
    CHECK_FALSE(messages.has_last());
    REQUIRE(messages.rig.ports[1]->receive({.tag = kOthersTag, .slices = {}},
                                           messages.received[0]) == Accept::kAccepted);
    messages.rig.until([&] { return messages.has_last(); });
    for (Watched& each : messages.sent) CHECK(each.done_count == 1);
    messages.rig.ports.clear();
  }
}
