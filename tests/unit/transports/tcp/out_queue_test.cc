// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/tcp/out_queue_test.cc -- what waits for the socket leaves in order, however
// much is taken at a time.
#include "transports/tcp/tcp_out_queue.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "tests/unit/transports/tcp/frame_kit.h"

namespace livebtl::tcp {
namespace {

/// Writes at most `most` bytes of the queue to `wire`.
std::size_t write(const OutQueue& queue, Blob& wire, std::size_t most) {
  std::array<iovec, 8> pieces;
  const std::size_t count = queue.gather(pieces);
  std::size_t written = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t part = std::min(most - written, pieces[i].iov_len);
    const auto* const data = static_cast<const std::byte*>(pieces[i].iov_base);
    wire.insert(wire.end(), data, data + part);
    written += part;
  }
  return written;
}

TEST_CASE("what was borrowed and is wanted back leaves as it was, and its cookie comes back") {
  OutQueue queue;
  queue.lend(std::make_unique<OutBlock>());
  auto [header, payload] = kit::message(1, 20, 9000);
  const Blob whole = payload;
  queue.push_borrowed(header, payload, 7);
  Blob wire;
  std::vector<std::uint64_t> cookies;
  const auto note = [&](std::uint64_t cookie) { cookies.push_back(cookie); };
  queue.consume(write(queue, wire, 1000), note);
  queue.own_borrowed();
  std::fill(payload.begin(), payload.end(), std::byte{0xEE});
  while (!queue.empty()) queue.consume(write(queue, wire, 3000), note);
  CHECK(cookies == std::vector<std::uint64_t>{7});
  CHECK(Blob(wire.begin() + 20, wire.end()) == whole);
}

TEST_CASE("pieces leave in order and cookies come back once each, for any partial writes") {
  Random random(3);
  for (int round = 0; round < 50; ++round) {
    OutQueue queue;
    queue.lend(std::make_unique<OutBlock>());
    Blob expected;
    Blob wire;
    std::vector<std::uint64_t> cookies;
    std::vector<std::uint64_t> wanted;
    std::vector<kit::Message> messages;
    for (std::uint64_t i = 0; i < 20; ++i) {
      messages.push_back(kit::message(i, 1 + random.below(64), random.below(3000)));
    }
    for (std::uint64_t i = 0; i < 20; ++i) {
      const auto& [header, payload] = messages[i];
      expected.insert(expected.end(), header.begin(), header.end());
      expected.insert(expected.end(), payload.begin(), payload.end());
      if (i % 2 == 0 && !payload.empty()) {
        queue.push_borrowed(header, payload, i);
        wanted.push_back(i);
      } else {
        queue.push_copied(header, payload);
      }
    }
    CHECK(queue.frames() == 20);
    std::size_t ended = 0;
    while (!queue.empty()) {
      const std::size_t written = write(queue, wire, 1 + random.below(5000));
      ended += queue.consume(written, [&](std::uint64_t cookie) { cookies.push_back(cookie); });
    }
    REQUIRE(wire == expected);
    CHECK(cookies == wanted);
    CHECK(ended == 20);
    CHECK(queue.frames() == 0);
    CHECK(queue.give_back() != nullptr);
  }
}

TEST_CASE("the queue is bounded, and takes the largest frame when it is empty") {
  OutQueue queue;
  CHECK(queue.fits(kPayloadBytesMax + sizeof(Head::raw)));
  queue.lend(std::make_unique<OutBlock>());
  const Blob payload = kit::noise(1, 1000);
  std::size_t taken = 0;
  while (queue.fits(payload.size())) {
    queue.push_copied(payload, {});
    REQUIRE(++taken < 100'000);
  }
  CHECK(taken > 0);
  CHECK(queue.give_back() == nullptr);
  CHECK(queue.drop() != nullptr);
  CHECK(queue.empty());
  CHECK(queue.frames() == 0);
}

TEST_CASE("borrowed bytes are bounded: what is posted behind them need not wait for long") {
  OutQueue queue;
  queue.lend(std::make_unique<OutBlock>());
  const Blob head = kit::noise(1, 40);
  const Blob payload = kit::noise(2, kPayloadBytesMax);
  std::size_t taken = 0;
  for (; queue.fits(head.size(), payload.size()); ++taken) {
    queue.push_borrowed(head, payload, taken);
    REQUIRE(taken < 100);
  }
  CHECK(taken == kBorrowedBytesMax / kPayloadBytesMax);
  CHECK(queue.fits(1000));
  const auto none = [](std::uint64_t) {};
  queue.consume(head.size() + payload.size() / 2, none);
  CHECK_FALSE(queue.fits(head.size(), payload.size()));
  CHECK(queue.fits(head.size(), payload.size() / 2));
  queue.consume(payload.size() / 2, none);
  CHECK(queue.fits(head.size(), payload.size()));
  queue.drop();
  queue.lend(std::make_unique<OutBlock>());
  CHECK(queue.fits(0, kBorrowedBytesMax + 1));
}

TEST_CASE("a queue that is never empty takes new pieces in place of those that are written") {
  OutQueue queue;
  queue.lend(std::make_unique<OutBlock>());
  Blob expected, wire;
  for (std::size_t i = 0; i < 1000; ++i) {
    const Blob bytes = kit::noise(i, 10);
    REQUIRE(queue.fits(bytes.size()));
    queue.push_copied(bytes, {});
    expected.insert(expected.end(), bytes.begin(), bytes.end());
    if (i >= 5) queue.consume(write(queue, wire, 10), [](std::uint64_t) {});
  }
  while (!queue.empty()) queue.consume(write(queue, wire, 10), [](std::uint64_t) {});
  CHECK(wire == expected);
}

TEST_CASE("many tiny frames are bounded too") {
  OutQueue queue;
  queue.lend(std::make_unique<OutBlock>());
  const Blob tiny = kit::noise(1, 1);
  std::size_t taken = 0;
  while (queue.fits(1)) {
    queue.push_copied(tiny, {});
    REQUIRE(++taken <= 1000);
  }
}

TEST_CASE("a frame of which the head was sent already keeps only its payload") {
  OutQueue queue;
  queue.lend(std::make_unique<OutBlock>());
  const Blob payload = kit::noise(1, 5000);
  queue.push_borrowed({}, Bytes(payload).subspan(1000), 7);
  Blob wire;
  const std::size_t written = write(queue, wire, 10'000);
  std::vector<std::uint64_t> cookies;
  queue.consume(written, [&](std::uint64_t cookie) { cookies.push_back(cookie); });
  CHECK(wire == Blob(payload.begin() + 1000, payload.end()));
  CHECK(cookies == std::vector<std::uint64_t>{7});
}

TEST_CASE("on_sent may push") {
  OutQueue queue;
  queue.lend(std::make_unique<OutBlock>());
  const Blob payload = kit::noise(1, 100);
  queue.push_borrowed(payload, payload, 1);
  int calls = 0;
  std::size_t ended = queue.consume(200, [&](std::uint64_t) {
    ++calls;
    queue.push_copied(payload, {});
  });
  CHECK(calls == 1);
  CHECK(ended == 1);
  CHECK(queue.frames() == 1);
}

}  // namespace
}  // namespace livebtl::tcp
