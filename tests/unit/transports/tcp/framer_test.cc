// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/tcp/framer_test.cc -- the framer on bytes that are cut, altered and mixed
// in every way.
#include "transports/tcp/tcp_framer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "base/crc32c.h"
#include "base/random.h"
#include "tests/unit/transports/tcp/frame_kit.h"

namespace livebtl::tcp {
namespace {

using kit::FrameLog;
using kit::Message;

/// Feeds `stream` in reads of at most next_read() bytes, in the order in which the framer asks.
template <class NextRead>
Framer::Stop feed(Framer& framer, FrameLog& log, Bytes stream, NextRead next_read,
                  std::size_t frames_max = 1000) {
  std::size_t frames = 0;
  Framer::Stop stop = Framer::Stop::kNeedBytes;
  if (!framer.has_block()) framer.lend(std::make_unique<InBlock>());
  while (!stream.empty()) {
    std::size_t rest = std::min(stream.size(), std::max<std::size_t>(next_read(), 1));
    const auto room = framer.room();
    std::size_t read = 0;
    for (const MutableBytes piece : room) {
      const std::size_t count = std::min(rest, piece.size());
      std::copy_n(stream.begin(), count, piece.begin());
      stream = stream.subspan(count);
      rest -= count;
      read += count;
    }
    REQUIRE(read > 0);
    framer.filled(read);
    do stop = framer.parse(log, frames_max, frames);
    while (stop == Framer::Stop::kBudget);
    if (stop == Framer::Stop::kCorrupt) return stop;
  }
  CHECK(frames == log.messages.size());
  return stop;
}

std::vector<Message> three_messages() {
  return {kit::message(1, 24, 0), kit::message(2, 64, 8), kit::message(3, 1, 200)};
}

TEST_CASE("a place that is wanted back is not written to, and the payload arrives all the same") {
  const std::vector<Message> messages = {kit::message(5, 30, 9000), kit::message(6, 30, 9000)};
  const Blob stream = kit::encode(messages, true);
  for (std::size_t cut : {std::size_t{200}, std::size_t{5000}, std::size_t{9000}}) {
    Framer framer(kPayloadBytesMax);
    FrameLog log;
    log.place_every = 1;
    feed(framer, log, Bytes(stream).first(cut), [] { return std::size_t{4096}; });
    REQUIRE(log.placed == 1);
    framer.own_place();
    std::fill(log.place.begin(), log.place.end(), std::byte{0xDD});
    const Blob untouched = log.place;
    log.place_every = 0;
    const std::size_t first = std::min<std::size_t>(stream.size(), 9200);
    feed(framer, log, Bytes(stream).subspan(cut, first - cut), [] { return std::size_t{100}; });
    CHECK(log.place == untouched);
    CHECK(log.messages == std::vector<Message>{messages[0]});
    log.messages.clear();
    feed(framer, log, Bytes(stream).subspan(first), [] { return std::size_t{4096}; });
    CHECK(log.messages == std::vector<Message>{messages[1]});
  }
}

TEST_CASE("frames split at every byte arrive whole") {
  for (const bool crc : {false, true}) {
    const auto messages = three_messages();
    const Blob stream = kit::encode(messages, crc);
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
      Framer framer(kPayloadBytesMax);
      FrameLog log;
      bool first = true;
      feed(framer, log, stream, [&] { return std::exchange(first, false) ? cut : stream.size(); });
      REQUIRE(log.messages == messages);
      CHECK(framer.give_back() != nullptr);
    }
  }
}

TEST_CASE("one byte at a time is enough") {
  std::vector<Message> messages = three_messages();
  messages.push_back(kit::message(4, 40, 9000));
  Framer framer(kPayloadBytesMax);
  FrameLog log;
  feed(framer, log, kit::encode(messages, true), [] { return std::size_t{1}; });
  CHECK(log.messages == messages);
}

TEST_CASE("large payloads go to the place that the sink gives, others through the block") {
  Random random(7);
  for (int round = 0; round < 60; ++round) {
    const std::size_t read_max = std::size_t{1} << random.below(20);
    // One large payload is enough where bytes come one by one.
    const std::size_t large_max = std::min<std::size_t>(kPayloadBytesMax, 1000 * read_max);
    std::vector<Message> messages;
    for (std::uint64_t i = 0; i < 30; ++i) {
      const std::size_t most =
          random.chance(0.2) ? large_max : std::min<std::size_t>(large_max, 5000);
      messages.push_back(kit::message(i, 1 + random.below(64), random.below(most + 1)));
    }
    messages.push_back(kit::message(99, 64, kPayloadBytesMax));
    Framer framer(kPayloadBytesMax);
    FrameLog log;
    log.place_every = round % 3;
    feed(framer, log, kit::encode(messages, round % 2 == 0),
         [&] { return 1 + random.below(read_max); });
    REQUIRE(log.messages == messages);
    if (log.place_every == 0 || large_max != kPayloadBytesMax) continue;
    CHECK(log.placed > 0);
    CHECK(log.have_checksums == (round % 2 == 0));
  }
}

TEST_CASE("a budget of one frame a call loses none") {
  const auto messages = three_messages();
  Framer framer(kPayloadBytesMax);
  FrameLog log;
  feed(
      framer, log, kit::encode(messages, true), [] { return std::size_t{1000}; }, 1);
  CHECK(log.messages == messages);
}

TEST_CASE("any altered byte is found before its frame is delivered") {
  const std::vector<Message> messages{kit::message(1, 24, 40), kit::message(2, 24, 40)};
  const Blob good = kit::encode(messages, true);
  const std::size_t second = good.size() / 2;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      Blob bad = good;
      bad[at] ^= std::byte{1} << bit;
      Framer framer(kPayloadBytesMax);
      FrameLog log;
      const Framer::Stop stop = feed(framer, log, bad, [&] { return bad.size(); });
      // A header length that grew can ask for bytes that never come; still, nothing wrong is
      // delivered.
      const bool longer_header = at % second == 5 && stop == Framer::Stop::kNeedBytes;
      CHECK((stop == Framer::Stop::kCorrupt || longer_header));
      REQUIRE(log.messages.size() == at / second);
      if (at >= second) CHECK(log.messages[0] == messages[0]);
    }
  }
}

TEST_CASE("without a payload checksum the header is still protected") {
  const std::vector<Message> messages{kit::message(1, 24, 40)};
  const Blob good = kit::encode(messages, false);
  for (std::size_t at = 0; at < 40; ++at) {
    Blob bad = good;
    bad[at] ^= std::byte{0x10};
    Framer framer(kPayloadBytesMax);
    FrameLog log;
    feed(framer, log, bad, [&] { return bad.size(); });
    CHECK(log.messages.empty());
  }
}

/// A head with a valid checksum, whatever its fields say.
Blob sealed(Prelude prelude, std::size_t header_bytes) {
  Blob raw(sizeof(prelude) + header_bytes, std::byte{7});
  std::memcpy(raw.data(), &prelude, sizeof(prelude));
  prelude.head_crc = crc32c(Bytes(raw).subspan(4));
  std::memcpy(raw.data(), &prelude, sizeof(prelude));
  return raw;
}

TEST_CASE("impossible fields are refused although their checksum is right") {
  const Prelude good{.magic = kFrameMagic, .header_bytes = 8, .payload_bytes = 4};
  std::vector<Prelude> bad(7, good);
  bad[0].magic = 0;
  bad[1].header_bytes = 0;
  bad[2].header_bytes = 65;
  bad[3].flags = 2;
  bad[4].reserved = 1;
  bad[5].payload_bytes = kPayloadBytesMax + 1;
  bad[6].payload_crc = 1;
  for (const Prelude& prelude : bad) {
    Framer framer(kPayloadBytesMax);
    FrameLog log;
    const Blob raw = sealed(prelude, prelude.header_bytes);
    CHECK(feed(framer, log, raw, [&] { return raw.size(); }) == Framer::Stop::kCorrupt);
    CHECK(framer.corruption() != nullptr);
    CHECK(log.messages.empty());
  }
  Framer framer(kPayloadBytesMax);
  FrameLog log;
  const Blob raw = sealed(good, 8);
  CHECK(feed(framer, log, raw, [&] { return raw.size(); }) == Framer::Stop::kNeedBytes);
}

TEST_CASE("the payload limit is that of the moment") {
  const std::vector<Message> messages{kit::message(1, 8, 2048), kit::message(2, 8, 2049)};
  const Blob stream = kit::encode(messages, true);
  Framer strict(core::kUntrustedPayloadMax);
  FrameLog log;
  CHECK(feed(strict, log, stream, [&] { return stream.size(); }) == Framer::Stop::kCorrupt);
  CHECK(log.messages.size() == 1);
  Framer raised(core::kUntrustedPayloadMax);
  raised.set_payload_bytes_max(kPayloadBytesMax);
  FrameLog all;
  feed(raised, all, stream, [&] { return stream.size(); });
  CHECK(all.messages == messages);
}

TEST_CASE("after corruption nothing more is delivered") {
  const std::vector<Message> messages{kit::message(1, 8, 8)};
  Blob stream = kit::encode(messages, true);
  stream.back() ^= std::byte{1};
  Framer framer(kPayloadBytesMax);
  FrameLog log;
  CHECK(feed(framer, log, stream, [&] { return stream.size(); }) == Framer::Stop::kCorrupt);
  std::size_t frames = 0;
  CHECK(framer.parse(log, 10, frames) == Framer::Stop::kCorrupt);
  CHECK(frames == 0);
}

}  // namespace
}  // namespace livebtl::tcp
