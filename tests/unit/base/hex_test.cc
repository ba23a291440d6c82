// SPDX-License-Identifier: BSD-3-Clause
#include "base/hex.h"

#include <array>

#include <doctest/doctest.h>

using namespace livebtl;

TEST_CASE("numbers as hexadecimal text: fixed width, or as ids") {
  CHECK(hex_digits(0x2a, 16) == "000000000000002a");
  CHECK(hex_digits(0x1234, 2) == "34");
  CHECK(hex_id(0) == "0x0");
  CHECK(hex_id(0x10) == "0x10");
  CHECK(hex_id(UINT64_MAX) == "0xffffffffffffffff");
}

TEST_CASE("bytes as hexadecimal text") {
  const std::array bytes{std::byte{0x00}, std::byte{0x9f}, std::byte{0xa0}};
  CHECK(hex_bytes(bytes) == "009fa0");
  CHECK(hex_bytes({}).empty());
}

TEST_CASE("what is no hexadecimal number of 64 bits is refused") {
  CHECK(parse_hex("2a") == 0x2a);
  CHECK(parse_hex("00000000000000000000000000002A") == 0x2a);
  CHECK(parse_hex("ffffffffffffffff") == UINT64_MAX);
  for (const char* bad : {"", "0x2a", "2g", " 2", "2 ", "-1", "10000000000000000"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_hex(bad));
  }
  CHECK(parse_hex_id("0x2a") == 0x2a);
  for (const char* bad : {"", "0x", "2a", "0X2a", "0x 2", "0x-2"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_hex_id(bad));
  }
}
