// SPDX-License-Identifier: BSD-3-Clause
// The place of a buffer that a queue pair exposes: decoding returns it, and refuses what makes no
// sense.
#include <doctest/doctest.h>

#include <cstring>

#include "transports/verbs/verbs_address.h"

using namespace livebtl;
using messages::kExposedBytesMax;
using messages::kExposedBytesMin;
using verbs::RemoteBuffer;

namespace {

auto decode(Bytes payload) { return messages::decode_exposed<RemoteBuffer>(payload); }

}  // namespace

TEST_CASE("where a buffer lies comes back") {
  const RemoteBuffer remote{0x7f00deadbeef, 77, kExposedBytesMax, 1, 0x12345678};
  const auto back = decode(bytes_of(remote));
  REQUIRE(back.has_value());
  CHECK(std::memcmp(&*back, &remote, sizeof remote) == 0);
}

TEST_CASE("a description that makes no sense is refused") {
  for (const RemoteBuffer& bad :
       {RemoteBuffer{1, 1, kExposedBytesMin - 1, 0, 0},
        RemoteBuffer{1, 1, kExposedBytesMax + 1, 0, 0}, RemoteBuffer{1, 1, 0, 0, 0},
        RemoteBuffer{1, 1, kExposedBytesMin, 2, 0}, RemoteBuffer{1, 1, kExposedBytesMin, 0, 5}})
    CHECK(!decode(bytes_of(bad)));
  const RemoteBuffer good{1, 1, kExposedBytesMin, 0, 0};
  CHECK(decode(bytes_of(good)));
  CHECK(!decode(bytes_of(good).first(sizeof good - 1)));
}
