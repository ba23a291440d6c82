// SPDX-License-Identifier: BSD-3-Clause
// Memory that its owner takes back in mid-transfer: deregistered regions and closed ports. From
// then on it is left alone, whatever was under way, and both sides are told of the end.
#include <cstring>

#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

constexpr std::size_t kWithdrawnBytes = 6u << 20;
constexpr std::byte kBlank{0x00};
constexpr std::byte kOwn{0xDD};  // written by the owner once it has the memory back

using Memory = std::vector<std::byte>;

bool all(const Memory& memory, std::byte value) {
  return memory[0] == value && std::memcmp(&memory[0], &memory[1], memory.size() - 1) == 0;
}

bool none(const Memory& memory, std::byte value) {
  return std::memchr(memory.data(), std::to_integer<int>(value), memory.size()) == nullptr;
}

/// Data that contains neither of the bytes above.
Memory data_of(std::uint64_t seed) {
  Memory data = pattern(kWithdrawnBytes, seed);
  for (std::size_t at = 0; at < kWithdrawnBytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, &data[at], sizeof word);
    word = (word | 0x0101010101010101U) & 0x7f7f7f7f7f7f7f7fU;
    std::memcpy(&data[at], &word, sizeof word);
  }
  return data;
}

std::uint64_t register_at(Rig& rig, std::size_t at, Memory& memory) {
  RegionRequest request;
  request.base = memory.data();
  request.bytes = memory.size();
  return rig.ports[at]->register_region(request).value();
}

const std::vector<std::string> kMemoryTransports = {"tcp", "sm"};

/// Moves the engines until the first bytes have arrived, then `more` further turns.
void until_under_way(Rig& rig, const Memory& target, int more) {
  rig.until([&] { return target[0] != kBlank; });
  for (int i = 0; i < more; ++i) {
    rig.engines[0]->progress();
    rig.engines[1]->progress();
  }
}

/// A last message: by then whatever was in flight before has arrived.
void settle(Rig& rig) {
  Watched sent, received;
  ReceiveRequest request{.tag = 99};
  REQUIRE(rig.ports[1]->receive(request, received) == Accept::kAccepted);
  REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1), .delivery_complete = true, .tag = 99}, sent) ==
          Accept::kAccepted);
  rig.until([&] { return sent.done_count == 1 && received.done_count == 1; });
  for (int i = 0; i < 1000; ++i) {
    rig.engines[0]->progress();
    rig.engines[1]->progress();
  }
}

}  // namespace

TEST_CASE("a region that is deregistered under a large put is not written any more") {
  for (const std::string& transport : kMemoryTransports) {
    for (int more = 0; more < 6; ++more) {
      CAPTURE(transport);
      CAPTURE(more);
      Rig rig(2, kinds_of({transport}));
      const Memory data = data_of(1);
      Memory target(kWithdrawnBytes, kBlank);
      const std::uint64_t key = register_at(rig, 1, target);
      const Slice slice{data.data(), data.size()};
      PutRequest request;
      request.to = rig.to(0, 1);
      request.remote = {key, 0};
      request.slices = {&slice, 1};
      Watched put;
      REQUIRE(rig.ports[0]->put(request, put) == Accept::kAccepted);
      until_under_way(rig, target, more);
      REQUIRE(put.done_count == 0);
      REQUIRE(rig.ports[1]->deregister_region(key));
      std::fill(target.begin(), target.end(), kOwn);
      rig.until([&] { return put.done_count == 1; });
      settle(rig);
      CHECK(put.completion.code == Errc::kBadKey);
      CHECK(all(target, kOwn));
    }
  }
}

TEST_CASE("a region that is deregistered under a large get is not read any more") {
  for (const std::string& transport : kMemoryTransports) {
    for (int more = 0; more < 6; ++more) {
      CAPTURE(transport);
      CAPTURE(more);
      Rig rig(2, kinds_of({transport}));
      Memory source = data_of(2);
      Memory into(kWithdrawnBytes, kBlank);
      const std::uint64_t key = register_at(rig, 1, source);
      const MutableSlice slice{into.data(), into.size()};
      GetRequest request;
      request.to = rig.to(0, 1);
      request.remote = {key, 0};
      request.slices = {&slice, 1};
      Watched get;
      REQUIRE(rig.ports[0]->get(request, get) == Accept::kAccepted);
      until_under_way(rig, into, more);
      REQUIRE(get.done_count == 0);
      REQUIRE(rig.ports[1]->deregister_region(key));
      std::fill(source.begin(), source.end(), kOwn);
      rig.until([&] { return get.done_count == 1; });
      CHECK(get.completion.code == Errc::kBadKey);
      CHECK(none(into, kOwn));
      std::fill(into.begin(), into.end(), kOwn);
      settle(rig);
      CHECK(all(into, kOwn));
    }
  }
}

TEST_CASE("a get that nobody has begun to send ends when its region is deregistered") {
  Taps taps;
  Rig rig(2, {kind("self"), tapped("tcp", taps)});
  Memory source = data_of(3);
  Memory into(kWithdrawnBytes, kBlank);
  const std::uint64_t key = register_at(rig, 1, source);
  const MutableSlice slice{into.data(), into.size()};
  GetRequest request;
  request.to = rig.to(0, 1);
  request.remote = {key, 0};
  request.slices = {&slice, 1};
  settle(rig);
  Watched get;
  REQUIRE(rig.ports[0]->get(request, get) == Accept::kAccepted);
  const auto offered = [&] { return taps[1].posted[core::FrameKind::kRts] != 0; };
  const TimeNs deadline = monotonic_now() + 20 * kSecond;
  while (!offered() && monotonic_now() < deadline)
    rig.engines[1]->progress();  // only the target moves
  REQUIRE(offered());
  REQUIRE(rig.ports[1]->deregister_region(key));
  rig.until([&] { return get.done_count == 1; });
  CHECK(get.completion.code == Errc::kBadKey);
  CHECK(all(into, kBlank));
}

TEST_CASE("a port that is closed while it receives leaves the buffer alone") {
  for (const std::string& transport : kMemoryTransports) {
    for (int more = 0; more < 6; ++more) {
      CAPTURE(transport);
      CAPTURE(more);
      Rig rig(2, kinds_of({transport}));
      auto closing = rig.engines[1]->open_port({}).value();
      const Memory data = data_of(4);
      Memory buffer(kWithdrawnBytes, kBlank);
      Watched sent, received;
      const MutableSlice into{buffer.data(), buffer.size()};
      ReceiveRequest wanted{.tag = 1};
      wanted.slices = {&into, 1};
      REQUIRE(closing->receive(wanted, received) == Accept::kAccepted);
      const Slice from{data.data(), data.size()};
      SendRequest request{.to = *rig.engines[0]->peer(closing->address()), .tag = 1};
      request.slices = {&from, 1};
      REQUIRE(rig.ports[0]->send(request, sent) == Accept::kAccepted);
      until_under_way(rig, buffer, more);
      REQUIRE(received.done_count == 0);
      closing.reset();
      CHECK(received.completion.code == Errc::kCancelled);
      std::fill(buffer.begin(), buffer.end(), kOwn);
      rig.until([&] { return sent.done_count == 1; });
      settle(rig);
      CHECK(sent.completion.code == Errc::kCancelled);
      CHECK(all(buffer, kOwn));
    }
  }
}

TEST_CASE(
    "a port that is closed while it sends gives the bytes back, and the receiver hears of it") {
  for (const std::string& transport : kMemoryTransports) {
    for (int more = 0; more < 6; ++more) {
      CAPTURE(transport);
      CAPTURE(more);
      Rig rig(2, kinds_of({transport}));
      auto closing = rig.engines[0]->open_port({}).value();
      Memory data = data_of(5);
      Memory buffer(kWithdrawnBytes, kBlank);
      Watched sent, received;
      const MutableSlice into{buffer.data(), buffer.size()};
      ReceiveRequest wanted{.tag = 1};
      wanted.slices = {&into, 1};
      REQUIRE(rig.ports[1]->receive(wanted, received) == Accept::kAccepted);
      const Slice from{data.data(), data.size()};
      SendRequest request{.to = rig.to(0, 1), .tag = 1};
      request.slices = {&from, 1};
      REQUIRE(closing->send(request, sent) == Accept::kAccepted);
      until_under_way(rig, buffer, more);
      REQUIRE(sent.done_count == 0);
      closing.reset();
      CHECK(sent.completion.code == Errc::kCancelled);
      std::fill(data.begin(), data.end(), kOwn);
      rig.until([&] { return received.done_count == 1; });
      settle(rig);
      CHECK(received.completion.code == Errc::kCancelled);
      CHECK(none(buffer, kOwn));
    }
  }
}
