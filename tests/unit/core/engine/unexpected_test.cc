// SPDX-License-Identifier: BSD-3-Clause
// Messages that arrive before their receives, far more than there is credit for: as long as the
// receiver has memory, the one that it waits for gets through behind them all.
#include "tests/unit/core/engine/unreceived.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;

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

TEST_CASE("a port whose operations wait keeps no copies, and is never busy") {
  Settings settings = small_credit();
  settings.operations_max = 16;
  Rig rig(2, {kind("tcp")}, 1, settings);
  PortOptions options;
  options.waits_in_operations = true;
  auto port = rig.engines[0]->open_port(options);
  REQUIRE(port);
  const SendRequest request{.to = rig.to(0, 1), .tag = kOthersTag, .slices = {}};
  CHECK((*port)->inject(request) == Accept::kBusy);  // no path yet
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
  constexpr std::size_t kFew = kHeaders / 8;  // what is told on its own is more than a quarter
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
