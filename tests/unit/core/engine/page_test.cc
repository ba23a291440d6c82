// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/page_test.cc -- what an engine shows in its page, and when it does.
#include "tests/unit/core/engine/small_credit.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

/// The copy that readers take.
const core::EnginePage& shown(const core::EnginePageLatch& latch) {
  return latch.copies[latch.sequence.load() % 2];
}

void send_byte(Rig& rig, std::size_t from, std::size_t to, Watched& sent,
               bool synchronous = false) {
  static const std::byte kOut{};
  const Slice what{&kOut, 1};
  SendRequest request{.to = rig.to(from, to), .tag = 1};
  request.slices = {&what, 1};
  request.delivery_complete = synchronous;
  REQUIRE(rig.ports[from]->send(request, sent) == Accept::kAccepted);
}

void want_byte(Rig& rig, std::size_t at, std::size_t from, std::byte& in, Watched& received) {
  const MutableSlice into{&in, 1};
  ReceiveRequest wanted{.tag = 1};
  wanted.from = rig.to(at, from);
  wanted.slices = {&into, 1};
  REQUIRE(rig.ports[at]->receive(wanted, received) == Accept::kAccepted);
}

/// What rank 0 shows of rank 1.
core::PeerPage shown_now(Rig& rig, core::EnginePageLatch& latch) {
  rig.engines[0]->show_on(&latch);
  return shown(latch).peer[0];
}

}  // namespace

TEST_CASE("a page has what the status has, a fifth of a second later") {
  Rig rig(2, {kind("self"), kind("tcp")});
  auto latch = std::make_unique<core::EnginePageLatch>();
  rig.engines[1]->show_on(latch.get());
  CHECK(latch->sequence.load() == 1);  // at once
  std::byte in{};
  Watched sent, received;
  want_byte(rig, 1, 0, in, received);
  send_byte(rig, 0, 1, sent);
  rig.until([&] { return received.done_count == 1 && sent.done_count == 1; });
  rig.until([&] { return shown(*latch).messages_received == 1; });
  const core::EngineStatus status = rig.engines[1]->status();
  const core::EnginePage& page = shown(*latch);
  CHECK(page.transports_shown == 2);
  CHECK(page.transport[1].name.view() == "tcp");
  CHECK(page.transport[1].open == 1);
  CHECK(page.transport[1].pairs == status.transports[1].peers);
  CHECK(page.peers_shown == 1);
  CHECK(page.peer[0].process == static_cast<std::uint64_t>(rig.engines[0]->process_id()));
  CHECK(page.peer[0].messages_received == 1);
  CHECK(page.peer[0].bytes_received > 0);
  CHECK(page.transport[1].carried.bytes_received == page.peer[0].bytes_received);
  rig.engines[1]->show_on(nullptr);
  const std::uint64_t last = latch->sequence.load();
  rig.pass(kSecond);
  rig.pass(kSecond);
  CHECK(latch->sequence.load() == last);
}

TEST_CASE("a page says for whom a process waits") {
  Rig rig(2, {kind("self"), kind("tcp")});
  auto latch = std::make_unique<core::EnginePageLatch>();
  std::byte first{}, second{};
  Watched received, never;
  want_byte(rig, 1, 0, first, received);
  Watched sent;
  send_byte(rig, 0, 1, sent);
  rig.until([&] { return received.done_count == 1; });
  want_byte(rig, 1, 0, second, never);
  rig.engines[1]->show_on(latch.get());
  CHECK(shown(*latch).peer[0].awaited == 1);
  CHECK(shown(*latch).awaited_from_any == 0);
  rig.engines[1]->show_on(nullptr);
  send_byte(rig, 0, 1, sent);
  rig.until([&] { return never.done_count == 1; });
}

TEST_CASE("a page shows a peer that is only waited for, and none of those that are only known") {
  Rig rig(3, {kind("self"), kind("tcp")});
  auto latch = std::make_unique<core::EnginePageLatch>();
  static_cast<void>(rig.to(0, 2));  // known by its address
  std::byte in{};
  Watched received;
  want_byte(rig, 0, 1, in, received);
  const core::PeerPage row = shown_now(rig, *latch);
  CHECK(shown(*latch).peers == 2);
  REQUIRE(shown(*latch).peers_shown == 1);
  CHECK(row.process == static_cast<std::uint64_t>(rig.engines[1]->process_id()));
  CHECK(row.awaited == 1);
  rig.engines[0]->show_on(nullptr);
  Watched sent;
  send_byte(rig, 1, 0, sent);
  rig.until([&] { return received.done_count == 1; });
}

TEST_CASE("a page says which sends no receive has taken") {
  Rig rig(2, {kind("self"), kind("tcp")});
  auto latch = std::make_unique<core::EnginePageLatch>();
  const auto shows = [&] { return shown_now(rig, *latch); };
  const auto large = pattern(400000, 3);
  Watched offered, small, received;
  const Slice from{large.data(), large.size()};
  SendRequest request{.to = rig.to(0, 1), .tag = 2};
  request.slices = {&from, 1};
  REQUIRE(rig.ports[0]->send(request, offered) == Accept::kAccepted);
  CHECK(shows().untaken == 0);  // it waits for a path; its peer knows nothing of it
  CHECK(shows().queued == 1);
  rig.until([&] { return shows().queued == 0; });
  CHECK(shows().untaken == 1);
  send_byte(rig, 0, 1, small, true);
  rig.until([&] { return shows().queued == 0; });
  CHECK(shows().untaken == 2);
  CHECK(shows().out_of_credit == 0);
  std::byte in{};
  want_byte(rig, 1, 0, in, received);
  rig.until([&] { return small.done_count == 1; });
  CHECK(shows().untaken == 1);
  rig.ports[0].reset();  // ends what is open
}

TEST_CASE("an offer that a full window keeps back is none of those, until it is on its way") {
  Settings settings;
  settings.window_bytes = 1024;
  Rig rig(2, {kind("self"), kind("tcp")}, 1, settings);
  auto latch = std::make_unique<core::EnginePageLatch>();
  const auto shows = [&] { return shown_now(rig, *latch); };
  std::byte in{};
  Watched first, received;
  want_byte(rig, 1, 0, in, received);
  send_byte(rig, 0, 1, first);
  rig.until([&] { return received.done_count == 1 && first.done_count == 1; });
  const auto large = pattern(400000, 3);
  const Slice from{large.data(), large.size()};
  SendRequest request{.to = rig.to(0, 1), .tag = 2};
  request.slices = {&from, 1};
  std::vector<Watched> offered(settings.window_bytes /
                               32);  // more offers than the window has room for
  std::uint32_t sent = 0;
  while (shows().queued == 0) {  // the peer gets no turn, so it acknowledges none of them
    REQUIRE(sent < offered.size());
    REQUIRE(rig.ports[0]->send(request, offered[sent++]) == Accept::kAccepted);
    rig.engines[0]->progress();
  }
  CHECK(shows().out_of_credit == 0);
  CHECK(shows().untaken == sent - 1);
  rig.until([&] { return shows().queued == 0; });
  CHECK(shows().untaken == sent);
  rig.ports[0].reset();  // ends what is open
}

TEST_CASE("a send that a receive has taken is none of those, before it has ended") {
  Rig rig(2, {kind("self"), kind("tcp")});
  auto latch = std::make_unique<core::EnginePageLatch>();
  const auto data = pattern(std::size_t{8} << 20, 3);  // many turns
  std::vector<std::byte> in(data.size());
  Watched sent, received;
  const Slice from{data.data(), data.size()};
  SendRequest request{.to = rig.to(0, 1), .tag = 2};
  request.slices = {&from, 1};
  REQUIRE(rig.ports[0]->send(request, sent) == Accept::kAccepted);
  rig.until([&] { return shown_now(rig, *latch).untaken == 1; });
  const MutableSlice into{in.data(), in.size()};
  ReceiveRequest wanted{.tag = 2};
  wanted.slices = {&into, 1};
  REQUIRE(rig.ports[1]->receive(wanted, received) == Accept::kAccepted);
  rig.until([&] { return shown_now(rig, *latch).untaken == 0; });
  CHECK(sent.done_count == 0);
  rig.until([&] { return sent.done_count == 1 && received.done_count == 1; });
  CHECK(in == data);
}

TEST_CASE("a page says that messages wait until their receiver receives") {
  Rig rig(2, {kind("self"), kind("tcp")}, 1, small_credit());
  auto latch = std::make_unique<core::EnginePageLatch>();
  const auto shows = [&] { return shown_now(rig, *latch); };
  constexpr std::uint32_t kMore = 6;
  std::vector<Watched> sent(kHeaders + kMore), received(sent.size());
  for (Watched& each : sent) send_byte(rig, 0, 1, each);
  CHECK(shows().queued == sent.size());
  CHECK(shows().out_of_credit == 0);  // what they wait for is a path
  rig.until([&] { return shows().queued == kMore; });
  CHECK(shows().out_of_credit == 1);
  CHECK(shows().untaken == 0);
  std::byte in{};
  for (Watched& each : received) want_byte(rig, 1, 0, in, each);
  rig.until([&] { return received.back().done_count == 1; });
  CHECK(shows().queued == 0);
  CHECK(shows().out_of_credit == 0);
}

TEST_CASE("five copies a second while the application calls, one when it has gone, and then none") {
  Rig rig(1, {kind("self"), kind("tcp")});
  auto latch = std::make_unique<core::EnginePageLatch>();
  rig.engines[0]->show_on(latch.get());
  const std::uint64_t first = latch->sequence.load();
  for (int i = 0; i < 1000; ++i) rig.pass(kMillisecond);
  const std::uint64_t copies = latch->sequence.load() - first;
  CHECK(copies >= 4);
  CHECK(copies <= 6);
  CHECK(rig.pass_away(5 * kSecond) < 0);  // its agent sleeps until something happens
  const std::uint64_t away = latch->sequence.load();
  CHECK(away > first + copies);
  rig.pass_away(60 * kSecond);
  CHECK(latch->sequence.load() == away);
}

TEST_CASE("a lost path is shown with its time and its reason") {
  Rig rig(2, {kind("self"), kind("tcp")});
  auto latch = std::make_unique<core::EnginePageLatch>();
  rig.engines[0]->show_on(latch.get());
  std::byte in{};
  Watched sent, received;
  want_byte(rig, 1, 0, in, received);
  send_byte(rig, 0, 1, sent);
  rig.until([&] { return received.done_count == 1 && sent.done_count == 1; });
  rig.ports.pop_back();
  rig.engines.pop_back();  // without a goodbye
  rig.until([&] { return shown(*latch).losses > 0; });
  const core::EnginePage& page = shown(*latch);
  REQUIRE(page.losses_shown > 0);
  CHECK(page.loss[0].process == Rig::kFirstProcess + 1);
  CHECK_FALSE(page.loss[0].why.view().empty());
  CHECK(page.loss[0].at_ns <= page.written_ns);
}
