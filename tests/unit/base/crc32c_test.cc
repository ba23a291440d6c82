// SPDX-License-Identifier: BSD-3-Clause
// CRC32C against published values, against a bitwise implementation, and in pieces.
#include "base/crc32c.h"

#include <doctest/doctest.h>

#include "base/bytes.h"
#include "base/random.h"

using namespace livebtl;

namespace {

// By definition: reflected polynomial 0x82F63B78, all ones at the start, inverted at the end.
std::uint32_t bitwise(Bytes bytes) {
  std::uint32_t crc = ~0u;
  for (const std::byte byte : bytes) {
    crc ^= static_cast<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0u);
  }
  return ~crc;
}

Blob random_blob(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  Blob blob(size);
  for (std::byte& byte : blob) byte = static_cast<std::byte>(random.next());
  return blob;
}

}  // namespace

TEST_CASE("the check value and the vectors of RFC 3720 B.4") {
  CHECK(crc32c(as_bytes("123456789")) == 0xE3069283u);
  CHECK(crc32c(Blob(32, std::byte{0})) == 0x8A9136AAu);
  CHECK(crc32c(Blob(32, std::byte{0xFF})) == 0x62A8AB43u);
  CHECK(crc32c({}) == 0);
}

TEST_CASE("every length and alignment agrees with the definition") {
  const Blob blob = random_blob(700, 1);
  for (std::size_t start = 0; start < 9; ++start)
    for (std::size_t length = 0; length + start <= blob.size(); length += 1 + length / 8)
      REQUIRE(crc32c(Bytes(blob).subspan(start, length)) ==
              bitwise(Bytes(blob).subspan(start, length)));
}

TEST_CASE("pieces give the checksum of the whole, wherever it is cut") {
  const Blob blob = random_blob(300, 2);
  const std::uint32_t whole = crc32c(blob);
  for (std::size_t cut = 0; cut <= blob.size(); ++cut)
    REQUIRE(crc32c(Bytes(blob).subspan(cut), crc32c(Bytes(blob).first(cut))) == whole);
}

TEST_CASE("any flipped bit changes the checksum") {
  Blob blob = random_blob(64, 3);
  const std::uint32_t whole = crc32c(blob);
  for (std::size_t bit = 0; bit < blob.size() * 8; ++bit) {
    blob[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    REQUIRE(crc32c(blob) != whole);
    blob[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
  }
}
