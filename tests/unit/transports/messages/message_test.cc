// SPDX-License-Identifier: BSD-3-Clause
// Messages of a fabric: decoding returns what was encoded, and detects any flipped bit.
#include "transports/messages/message.h"

#include <doctest/doctest.h>

#include "base/crc32c.h"
#include "base/random.h"

using namespace livebtl;
using namespace livebtl::messages;

namespace {

Blob bytes(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  Blob blob(count);
  for (std::byte& each : blob) each = static_cast<std::byte>(random.next());
  return blob;
}

Blob message(std::size_t header_bytes, std::size_t payload_bytes, bool payload_crc) {
  const Blob header = bytes(1, header_bytes), payload = bytes(2, payload_bytes);
  Blob out(kMessageBytesMax);
  const std::size_t begin =
      encode_frame({header, payload, 0, false}, 0xfffffff0, payload_crc, out.data());
  std::copy(payload.begin(), payload.end(), out.begin() + static_cast<std::ptrdiff_t>(begin));
  out.resize(begin + payload_bytes);
  return out;
}

Blob exposed_message(const Blob& where) {
  Blob out(sizeof(Head) + 48 + where.size());
  CHECK(encode_exposed(bytes(1, 48), where, 5, out.data()) == out.size());
  return out;
}

/// Recomputes the first field of the head, as the author of the rest would.
void reseal(Blob& blob, std::size_t header_bytes) {
  const std::uint32_t crc = crc32c(Bytes(blob).subspan(4, 12 + header_bytes));
  std::memcpy(blob.data(), &crc, sizeof crc);
}

bool taken(const Blob& blob, std::size_t payload_max = kPayloadBytesMax) {
  const char* why = nullptr;
  const bool good = decode_message(blob, payload_max, why).has_value();
  CHECK(good == (why == nullptr));
  return good;
}

}  // namespace

TEST_CASE("frames and control messages come back as they were") {
  for (const std::size_t header : {std::size_t{1}, std::size_t{24}, std::size_t{64}}) {
    for (const std::size_t payload :
         {std::size_t{0}, std::size_t{9}, std::size_t{kPayloadBytesMax}}) {
      const char* why = nullptr;
      const Blob blob = message(header, payload, payload % 2 == 1);
      const auto decoded = decode_message(blob, kPayloadBytesMax, why);
      REQUIRE(decoded.has_value());
      CHECK(decoded->head.kind == Kind::kFrame);
      CHECK(decoded->head.granted == 0xfffffff0);
      CHECK(Blob(decoded->header.begin(), decoded->header.end()) == bytes(1, header));
      CHECK(Blob(decoded->payload.begin(), decoded->payload.end()) == bytes(2, payload));
    }
  }
  for (const Kind kind : {Kind::kCredit, Kind::kBye, Kind::kReads}) {
    Blob control(sizeof(Head));
    CHECK(encode_control(kind, 5, kind == Kind::kReads ? 9 : 0, control.data()) == control.size());
    CHECK(taken(control));
    const char* why = nullptr;
    CHECK(decode_message(control, 0, why)->head.payload_crc == (kind == Kind::kReads ? 9 : 0));
    control.push_back(std::byte{0});
    CHECK(!taken(control));
  }
}

TEST_CASE("a frame whose payload is exposed says where it lies") {
  const Blob where = bytes(3, kWhereBytesMax);
  const char* why = nullptr;
  const Blob blob = exposed_message(where);
  const auto decoded = decode_message(blob, 2048, why);
  REQUIRE(decoded.has_value());
  CHECK(decoded->head.kind == Kind::kExposed);
  CHECK(Blob(decoded->header.begin(), decoded->header.end()) == bytes(1, 48));
  CHECK(Blob(decoded->payload.begin(), decoded->payload.end()) == where);
  Blob cut = blob;
  cut.pop_back();
  CHECK(!taken(cut));
  Blob unsealed = blob;  // a checksum is required
  unsealed[6] = std::byte{0};
  std::fill_n(unsealed.begin() + 12, 4, std::byte{0});
  reseal(unsealed, 48);
  CHECK(!taken(unsealed));
}

TEST_CASE("any flipped bit is seen where there is a checksum") {
  for (const Blob& good : {message(24, 40, true), exposed_message(bytes(3, 24))}) {
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      Blob bad = good;
      bad[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      CHECK(!taken(bad));
    }
  }
}

TEST_CASE("cut anywhere in its head or header, a message is malformed") {
  const Blob good = message(24, 0, false);
  for (std::size_t length = 0; length < good.size(); ++length)
    CHECK(!taken(Blob(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length))));
}

TEST_CASE("with a checksum that is right, fields out of their range are malformed all the same") {
  struct Change {
    std::size_t at;
    std::uint8_t value;
  };
  for (const Change& change : {Change{4, 0}, Change{4, 6}, Change{4, 4}, Change{4, 5}, Change{4, 2},
                               Change{6, 2}, Change{7, 1}, Change{12, 1}}) {
    Blob bad = message(24, 8, false);
    bad[change.at] = static_cast<std::byte>(change.value);
    reseal(bad, 24);
    INFO("byte " << change.at << " is " << static_cast<int>(change.value));
    CHECK(!taken(bad));
  }
  Blob long_header = message(64, 100, false);
  long_header[5] = std::byte{65};
  reseal(long_header, 65);
  CHECK(!taken(long_header));
}

TEST_CASE("payloads are taken up to the limit in force") {
  CHECK(taken(message(8, 2048, false), 2048));
  CHECK(!taken(message(8, 2049, false), 2048));
}
