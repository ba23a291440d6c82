// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/wire/local_frame_test.cc -- envelopes as packets, and malformed packets.
#include "control/wire/local_frame.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "some_envelope.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

TEST_CASE("an envelope stays what it is as a packet") {
  const Envelope sent = envelope_of(std::string(kMessageBytesMax, 'x'));
  const auto packet = format_local(sent);
  REQUIRE(packet);
  const auto read = parse_local(*packet);
  REQUIRE(read);
  CHECK(read->back == sent.back);
  CHECK(read->to == sent.to);
  CHECK(read->body == sent.body);
  CHECK_FALSE(format_local(envelope_of(std::string(kMessageBytesMax + 1, 'x'))));
  CHECK_FALSE(format_local(envelope_of("", std::string(kToBytesMax + 1, 'x'))));
  CHECK_FALSE(format_local(envelope_of("", "", std::string(kBackBytesMax + 1, 'x'))));
}

TEST_CASE("a packet that is none is refused") {
  CHECK_FALSE(parse_local(""));
  CHECK_FALSE(parse_local(head(1, 0, 0).substr(0, kLocalHeadBytes - 1)));
  CHECK_FALSE(parse_local(head(2, 0, 0)));
  CHECK_FALSE(parse_local(head(1, 0, 0, 1)));
  CHECK_FALSE(parse_local(head(1, 1, 0)));
  CHECK_FALSE(parse_local(head(1, 3, 3) + "12345"));
  CHECK_FALSE(parse_local(head(1, 0xffff, 0xffff) + std::string(0x1fffe, 'x')));
  CHECK_FALSE(parse_local(head(1, kBackBytesMax + 1, 0) + std::string(kBackBytesMax + 1, 'x')));
  CHECK_FALSE(parse_local(head(1, 0, 0) + std::string(kMessageBytesMax + 1, 'x')));
  CHECK(parse_local(head(1, 3, 3) + "123456"));
}

TEST_CASE("random packets never make an envelope that is out of bounds") {
  Random chance(23);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(chance.below(64), '\0');
    for (char& c : bytes) c = static_cast<char>(chance.next());
    if (!bytes.empty() && i % 2 == 0) bytes[0] = '\1';
    if (bytes.size() > 7 && i % 4 == 0) bytes[1] = bytes[3] = bytes[5] = bytes[6] = bytes[7] = 0;
    const auto envelope = parse_local(bytes);
    if (!envelope) continue;
    CHECK(envelope->back.size() + envelope->to.size() + envelope->body.size() + kLocalHeadBytes ==
          bytes.size());
  }
}
