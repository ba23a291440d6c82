// SPDX-License-Identifier: BSD-3-Clause
// lent_test.cc -- where a lent payload lies, as a hostile peer may say it.
#include <doctest/doctest.h>

#include "transports/ofi/ofi_lent.h"

using namespace livebtl;
using ofi::Lent;

TEST_CASE("what is lent has one size of words, and lengths within bounds") {
  const Lent good{0x1234, 0xffff'ffff'ffff'ffff, ofi::kLentBytesMax, 1, 7, 0};
  const auto decoded = ofi::decode_lent(bytes_of(good));
  REQUIRE(decoded.has_value());
  CHECK(decoded->address == good.address);
  CHECK(decoded->key == good.key);
  CHECK(decoded->bytes == good.bytes);
  CHECK(decoded->crc == good.crc);
  for (const std::uint32_t bytes :
       {0U, ofi::kLentBytesMin - 1, ofi::kLentBytesMax + 1, 0xffff'ffffU}) {
    const Lent bad{0x1234, 1, bytes, 1, 7, 0};
    CHECK(!ofi::decode_lent(bytes_of(bad)).has_value());
  }
  for (const Lent& bad :
       {Lent{0, 0, ofi::kLentBytesMin, 2, 7, 0}, Lent{0, 0, ofi::kLentBytesMin, 0, 7, 0},
        Lent{0, 0, ofi::kLentBytesMin, 1, 7, 1}})
    CHECK(!ofi::decode_lent(bytes_of(bad)).has_value());
  CHECK(!ofi::decode_lent(bytes_of(good).first(sizeof good - 1)).has_value());
  CHECK(!ofi::decode_lent({}).has_value());
}
