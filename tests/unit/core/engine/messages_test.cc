// SPDX-License-Identifier: BSD-3-Clause
// Messages between engines over real transports: matching, rendezvous, active messages, one-sided.
#include <poll.h>

#include <algorithm>

#include "tests/unit/core/engine/rig.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

void send(Rig& rig, std::size_t from, std::size_t to, Tag tag, const std::vector<std::byte>& data,
          Watched& operation, bool delivery_complete = false) {
  const Slice slice{data.data(), data.size()};
  SendRequest request{.to = rig.to(from, to), .delivery_complete = delivery_complete, .tag = tag};
  request.slices = {&slice, 1};
  REQUIRE(rig.ports[from]->send(request, operation) == Accept::kAccepted);
}

void receive(Rig& rig, std::size_t at, Tag tag, std::vector<std::byte>& buffer,
             Watched& operation) {
  const MutableSlice slice{buffer.data(), buffer.size()};
  ReceiveRequest request{.tag = tag};
  request.slices = {&slice, 1};
  REQUIRE(rig.ports[at]->receive(request, operation) == Accept::kAccepted);
}

const std::vector<std::string> kBothTransports = {"tcp", "sm"};

/// One message from the first process; its receive is posted before it is sent or after it has
/// arrived.
void deliver(Rig& rig, std::size_t target, Tag tag, std::size_t bytes, bool expected) {
  const auto data = pattern(bytes, tag);
  std::vector<std::byte> buffer(bytes);
  Watched sent, received;
  if (expected) receive(rig, target, tag, buffer, received);
  send(rig, 0, target, tag, data, sent);
  if (!expected) {
    Completion found;
    rig.until([&] { return rig.ports[target]->peek({.tag = tag}, found, nullptr); });
    CHECK(found.message_bytes == bytes);
    receive(rig, target, tag, buffer, received);
  }
  rig.until([&] { return sent.done_count == 1 && received.done_count == 1; });
  CHECK(received.completion.code == Errc::kOk);
  CHECK(received.completion.bytes == bytes);
  CHECK((buffer == data));
}

}  // namespace

TEST_CASE("messages of every size arrive whole, expected or not, at a peer and at oneself") {
  for (const std::string& transport : kBothTransports) {
    Rig rig(2, kinds_of({transport}));
    Tag tag = 1;
    for (const std::size_t target : {1UL, 0UL}) {
      for (const std::size_t bytes :
           {0UL, 1UL, 8UL, 1000UL, 16384UL, 16385UL, 100000UL, 5000000UL}) {
        for (const bool expected : {true, false}) {
          CAPTURE(transport);
          CAPTURE(target);
          CAPTURE(bytes);
          CAPTURE(expected);
          deliver(rig, target, tag++, bytes, expected);
        }
      }
    }
  }
}

TEST_CASE("a delivery-complete send waits for the receive; a short buffer truncates") {
  Rig rig(2, kinds_of({"tcp"}));
  for (const std::size_t bytes : {100UL, 1000000UL}) {
    const auto data = pattern(bytes, 3);
    std::vector<std::byte> buffer(bytes / 2);
    Watched sent;
    Watched received;
    send(rig, 0, 1, 5, data, sent, true);
    Completion found;
    rig.until([&] { return rig.ports[1]->peek({.tag = 5}, found, nullptr); });
    CHECK(sent.done_count == 0);
    receive(rig, 1, 5, buffer, received);
    rig.until([&] { return sent.done_count == 1 && received.done_count == 1; });
    CHECK(received.completion.code == Errc::kTruncated);
    CHECK(received.completion.message_bytes == bytes);
    CHECK(std::equal(buffer.begin(), buffer.end(), data.begin()));
  }
}

TEST_CASE("active messages reach their handler on a calling thread") {
  Rig rig(2, kinds_of({"tcp"}));
  std::vector<std::uint64_t> seen;
  rig.ports[1]->on_active(7, [&](const ActiveMessage& message) {
    seen.push_back(message.argument);
    CHECK(message.payload.size() == 3);
  });
  const char text[] = "abc";
  const Slice slice{text, 3};
  std::vector<Watched> sent(50);
  for (std::size_t i = 0; i < sent.size(); ++i)
    REQUIRE(rig.ports[0]->send_active(rig.to(0, 1), 7, i, {&slice, 1}, sent[i]) ==
            Accept::kAccepted);
  rig.until([&] { return seen.size() == sent.size(); });
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == i);
}

TEST_CASE("active messages to several ports are handled in turn") {
  Rig rig(2, kinds_of({"tcp"}));
  auto other = rig.engines[1]->open_port({});
  REQUIRE(other);
  std::string handled;
  rig.ports[1]->on_active(7, [&](const ActiveMessage&) { handled += 'a'; });
  (*other)->on_active(7, [&](const ActiveMessage&) { handled += 'b'; });
  const auto to_other = *rig.engines[0]->peer((*other)->address());
  std::vector<Watched> sent(20);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    REQUIRE(rig.ports[0]->send_active(i < 10 ? rig.to(0, 1) : to_other, 7, i, {}, sent[i]) ==
            Accept::kAccepted);
  }
  rig.until([&] { return handled.size() == sent.size(); });
  // As many as were there at once take turns; which of both had come first does not matter.
  CHECK(handled.rfind('a') > handled.find('b'));
}

TEST_CASE("put, get and flush do what they say, and refuse what a region forbids") {
  for (const std::string& transport : kBothTransports) {
    CAPTURE(transport);
    Rig rig(2, kinds_of({transport}));
    Port& port = *rig.ports[0];
    for (const std::size_t bytes : {8UL, 5000UL, 300000UL}) {
      std::vector<std::byte> memory(bytes);
      const auto key = rig.ports[1]->register_region({.base = memory.data(), .bytes = bytes});
      REQUIRE(key);
      const auto data = pattern(bytes, bytes);
      std::vector<std::byte> back(bytes);
      Watched put, get, flushed, bad;
      const Slice out{data.data(), bytes};
      const MutableSlice in{back.data(), bytes};
      REQUIRE(port.put({rig.to(0, 1), {*key, 0}, {&out, 1}, {}}, put) == Accept::kAccepted);
      REQUIRE(port.flush({}, flushed) == Accept::kAccepted);
      rig.until([&] { return flushed.done_count == 1; });
      CHECK(put.done_count == 1);
      CHECK(put.completion.code == Errc::kOk);
      CHECK((memory == data));
      REQUIRE(port.get({rig.to(0, 1), {*key, 0}, {&in, 1}}, get) == Accept::kAccepted);
      rig.until([&] { return get.done_count == 1; });
      CHECK((back == data));
      REQUIRE(port.put({rig.to(0, 1), {*key, 1}, {&out, 1}, {}}, bad) == Accept::kAccepted);
      rig.until([&] { return bad.done_count == 1; });
      CHECK(bad.completion.code == Errc::kBadKey);
      CHECK((memory == data));
      REQUIRE(rig.ports[1]->deregister_region(*key));
    }
  }
}

TEST_CASE("an atomic changes the peer's memory and brings back what was there") {
  for (const std::string& transport : kBothTransports) {
    CAPTURE(transport);
    Rig rig(2, kinds_of({transport}));
    std::uint64_t counter = 5;
    const auto key = rig.ports[1]->register_region({.base = &counter, .bytes = 8});
    REQUIRE(key);
    const std::uint64_t one = 1;
    std::uint64_t before = 0;
    Watched added;
    AtomicRequest request{
        .to = rig.to(0, 1), .remote = {*key, 0}, .operand = &one, .fetched = &before};
    REQUIRE(rig.ports[0]->atomic(request, added) == Accept::kAccepted);
    rig.until([&] { return added.done_count == 1; });
    CHECK(before == 5);
    CHECK(counter == 6);
  }
}

TEST_CASE("the agent of a quiet process sleeps until it is woken by the next message") {
  for (const std::string& transport : kBothTransports) {
    CAPTURE(transport);
    Rig rig(2, kinds_of({transport}));
    deliver(rig, 1, 1, 100, true);
    deliver(rig, 1, 1, 100, true);
    const auto data = pattern(100, 2);
    std::vector<std::byte> buffer(100);
    Watched sent, received;
    receive(rig, 1, 2, buffer, received);
    core::EngineCore& agent = *rig.engines[1];
    const TimeNs deadline = monotonic_now() + 20 * kSecond;
    std::int64_t sleep = 0;
    const auto asleep = [&] { return sleep < 0 && Rig::is_away(agent); };
    while (!asleep() && monotonic_now() < deadline) {
      rig.engines[0]->agent_turn();
      sleep = agent.agent_turn();
    }
    CHECK(asleep());

    send(rig, 0, 1, 2, data, sent);
    std::vector<pollfd> polled;
    for (const int fd : agent.wait_fds()) polled.push_back({fd, POLLIN, 0});
    REQUIRE(::poll(polled.data(), polled.size(), 20'000) > 0);
    while (received.done_count == 0 && monotonic_now() < deadline) agent.agent_turn();
    CHECK(received.done_count == 1);
  }
}

TEST_CASE("engines know when they have met a peer on another node") {
  for (const std::size_t nodes : {1u, 2u}) {
    Rig rig(2, {kind("tcp")}, 1, {}, nodes);
    int signals = 0;
    rig.engines[0]->on_report([&] { ++signals; });
    Watched sent, received;
    REQUIRE(rig.ports[1]->receive({}, received) == Accept::kAccepted);
    const SendRequest request{.to = rig.to(0, 1)};
    REQUIRE(rig.ports[0]->send(request, sent) == Accept::kAccepted);
    rig.until([&] { return received.done_count == 1; });
    CHECK(rig.engines[0]->spans_nodes() == (nodes == 2));
    CHECK(rig.engines[1]->spans_nodes() == (nodes == 2));
    CHECK(signals == (nodes == 2 ? 1 : 0));
    rig.engines[0]->on_report({});
  }
}
