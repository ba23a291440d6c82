// SPDX-License-Identifier: BSD-3-Clause
// remote_buffer_test.cc -- descriptions of an exposed buffer, as a hostile peer may send them.
#include <doctest/doctest.h>

#include "transports/ofi/ofi_address.h"

using namespace livebtl;
using messages::kExposedBytesMax;
using messages::kExposedBytesMin;
using ofi::RemoteBuffer;

TEST_CASE("a description of a buffer has one size, and lengths within bounds") {
  const RemoteBuffer good{0x1234, 0xffff'ffff'ffff'ffff, kExposedBytesMax, 1, 7, 0};
  const auto decoded = ofi::decode_remote(bytes_of(good));
  REQUIRE(decoded.has_value());
  CHECK(decoded->address == good.address);
  CHECK(decoded->key == good.key);
  CHECK(decoded->bytes == good.bytes);
  CHECK(decoded->crc == good.crc);
  for (const std::uint32_t bytes : {0U, kExposedBytesMin - 1, kExposedBytesMax + 1, 0xffff'ffffU}) {
    const RemoteBuffer bad{0x1234, 1, bytes, 1, 7, 0};
    CHECK(!ofi::decode_remote(bytes_of(bad)).has_value());
  }
  for (const RemoteBuffer& bad : {RemoteBuffer{0, 0, kExposedBytesMin, 2, 7, 0},
                                  RemoteBuffer{0, 0, kExposedBytesMin, 0, 7, 0},
                                  RemoteBuffer{0, 0, kExposedBytesMin, 1, 7, 1}})
    CHECK(!ofi::decode_remote(bytes_of(bad)).has_value());
  CHECK(!ofi::decode_remote(bytes_of(good).first(sizeof good - 1)).has_value());
  CHECK(!ofi::decode_remote({}).has_value());
}
