// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/lane/frame_test.cc -- decode_head() accepts exactly the headers that docs/WIRE.md
// describes.
#include "core/lane/frame.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/random.h"

using namespace livebtl;
using namespace livebtl::core;

namespace {

struct Kind {
  FrameKind kind;
  std::size_t body_bytes;
  unsigned flags;
};

// Deliberately written out a second time: from the specification, not from the table under test.
constexpr unsigned kAckOnly = kFlagAckWanted;
const Kind kKinds[] = {
    {FrameKind::kEager, sizeof(MessageBody), kFlagHasData | kFlagTagged | kFlagWantDone | kAckOnly},
    {FrameKind::kRts, sizeof(RtsBody),
     kFlagHasData | kFlagTagged | kFlagWantDone | kFlagPut | kFlagGet | kFlagAhead | kAckOnly},
    {FrameKind::kCts, sizeof(CtsBody), kFlagAhead | kAckOnly},
    {FrameKind::kFin, sizeof(FinBody), kAckOnly | kFlagGivenUp | kFlagAhead},
    {FrameKind::kDone, sizeof(FinBody), kFlagWantDone | kAckOnly},
    {FrameKind::kActive, sizeof(MessageBody), kAckOnly},
    {FrameKind::kPut, sizeof(RemoteBody), kFlagHasData | kAckOnly},
    {FrameKind::kGet, sizeof(RemoteBody), kAckOnly},
    {FrameKind::kGetReply, sizeof(FinBody), kAckOnly},
    {FrameKind::kAtomic, sizeof(AtomicBody), kAckOnly},
    {FrameKind::kAtomicReply, sizeof(FinBody), kAckOnly},
    {FrameKind::kAddresses, 0, kAckOnly},
    {FrameKind::kData, sizeof(DataBody), kFlagAhead | kAckOnly},
    {FrameKind::kAck, sizeof(CreditBody), kAckOnly},
    {FrameKind::kMarker, sizeof(PathBody), kAckOnly},
    {FrameKind::kMarkerAck, sizeof(PathBody), kAckOnly},
    {FrameKind::kPathDown, sizeof(PathBody), kAckOnly},
    {FrameKind::kProbe, sizeof(PathBody), kAckOnly},
    {FrameKind::kHello, 0, 0},
    {FrameKind::kGoodbye, sizeof(PathBody), kAckOnly},
    {FrameKind::kTicket, sizeof(PathBody), kAckOnly},
    {FrameKind::kTicketBack, sizeof(PathBody), kAckOnly},
    {FrameKind::kBox, sizeof(PathBody), kAckOnly},
};

/// A well-formed header of the kind, all body fields 0.
Blob header_of(const Kind& kind, unsigned flags = 0) {
  FrameHead head;
  head.kind = kind.kind;
  head.flags = static_cast<std::uint8_t>(flags);
  head.target_port = 2;
  head.source_port = 1;
  head.seq = static_cast<unsigned>(kind.kind) < 32 ? 7 : 0;
  head.ack = 3;
  Blob blob(sizeof head + kind.body_bytes);
  std::memcpy(blob.data(), &head, sizeof head);
  return blob;
}

template <class Body>
bool accepted_with(FrameKind kind, const Body& body) {
  Header<Body> header{};
  header.head.kind = kind;
  header.head.seq = is_ordered(kind) ? 1 : 0;
  header.body = body;
  return decode_head(bytes_of(header)).has_value();
}

}  // namespace

TEST_CASE("a well-formed header of every kind is taken, and its fields come out") {
  for (const Kind& kind : kKinds) {
    const auto head = decode_head(header_of(kind));
    REQUIRE(head.has_value());
    CHECK(head->kind == kind.kind);
    CHECK(head->target_port == 2);
    CHECK(head->source_port == 1);
    CHECK(head->ack == 3);
    CHECK(is_ordered(head->kind) == (head->seq == 7));
  }
}

TEST_CASE("a header of any other size is refused") {
  for (const Kind& kind : kKinds) {
    for (std::size_t size = 0; size <= 80; ++size) {
      Blob header = header_of(kind);
      const std::size_t right = header.size();
      header.resize(size);
      CHECK(decode_head(header).has_value() == (size == right));
    }
  }
}

TEST_CASE("every unknown kind is refused at every size") {
  for (unsigned number = 0; number < 256; ++number) {
    bool known = false;
    for (const Kind& kind : kKinds) known = known || static_cast<unsigned>(kind.kind) == number;
    if (known) continue;
    for (std::size_t body_bytes = 0; body_bytes <= 40; body_bytes += 8) {
      CHECK_FALSE(decode_head(header_of({static_cast<FrameKind>(number), body_bytes, 0})));
    }
  }
}

TEST_CASE("flags that a kind does not have are refused, one by one") {
  for (const Kind& kind : kKinds) {
    for (unsigned bit = 1; bit < 256; bit <<= 1) {
      CHECK(decode_head(header_of(kind, bit)).has_value() == ((kind.flags & bit) != 0));
    }
  }
}

TEST_CASE("an offer is a tagged message, a put or a get, never two of them") {
  const Kind& rts = kKinds[1];
  CHECK(decode_head(header_of(rts, kFlagPut | kFlagHasData)));
  CHECK_FALSE(decode_head(header_of(rts, kFlagPut | kFlagTagged)));
  CHECK_FALSE(decode_head(header_of(rts, kFlagGet | kFlagTagged)));
  CHECK_FALSE(decode_head(header_of(rts, kFlagPut | kFlagGet)));
  CHECK(decode_head(header_of(rts, kFlagTagged | kFlagAhead)));
  CHECK_FALSE(decode_head(header_of(rts, kFlagPut | kFlagAhead)));
  CHECK_FALSE(decode_head(header_of(rts, kFlagGet | kFlagAhead)));
}

TEST_CASE("a transfer that is given up has not been read with its offer") {
  const Kind& fin = kKinds[3];
  CHECK_FALSE(decode_head(header_of(fin, kFlagGivenUp | kFlagAhead)));
  CHECK(decode_head(header_of(fin, kFlagAckWanted | kFlagAhead)));
}

TEST_CASE("reserved bits of the head are refused") {
  for (const Kind& kind : kKinds) {
    for (unsigned bit = 0; bit < 16; ++bit) {
      Blob header = header_of(kind);
      header[2 + bit / 8] |= static_cast<std::byte>(1u << (bit % 8));
      CHECK_FALSE(decode_head(header));
    }
  }
}

TEST_CASE("ordered frames have a number and others have none") {
  for (const Kind& kind : kKinds) {
    Blob header = header_of(kind);
    const std::uint64_t wrong = is_ordered(kind.kind) ? 0 : 1;
    std::memcpy(header.data() + 8, &wrong, sizeof wrong);
    CHECK_FALSE(decode_head(header));
  }
}

TEST_CASE("reserved and yes-or-no fields of bodies are checked") {
  CHECK(accepted_with(FrameKind::kCts, CtsBody{}));
  CtsBody cts;
  cts.reserved = 1;
  CHECK_FALSE(accepted_with(FrameKind::kCts, cts));
  FinBody fin;
  fin.reserved = 1u << 31;
  for (const FrameKind kind :
       {FrameKind::kFin, FrameKind::kDone, FrameKind::kGetReply, FrameKind::kAtomicReply}) {
    CHECK(accepted_with(kind, FinBody{}));
    CHECK_FALSE(accepted_with(kind, fin));
  }
  DataBody data;
  CHECK(accepted_with(FrameKind::kData, data));
  data.reserved = 1;
  CHECK_FALSE(accepted_with(FrameKind::kData, data));
  AtomicBody atomic;
  atomic.fetch = 1;
  CHECK(accepted_with(FrameKind::kAtomic, atomic));
  atomic.fetch = 2;
  CHECK_FALSE(accepted_with(FrameKind::kAtomic, atomic));
  atomic.fetch = 0;
  atomic.reserved = 1;
  CHECK_FALSE(accepted_with(FrameKind::kAtomic, atomic));
}

TEST_CASE("the short check of an eager message's head says what the long one does") {
  Blob header = header_of(kKinds[0]);
  for (unsigned kind = 0; kind < 256; ++kind) {
    for (unsigned flags = 0; flags < 256; ++flags) {
      for (const unsigned reserved : {0u, 1u, 0x100u, 0xffffu}) {
        FrameHead head;
        std::memcpy(&head, header.data(), sizeof head);
        head.kind = static_cast<FrameKind>(kind);
        head.flags = static_cast<std::uint8_t>(flags);
        head.reserved = static_cast<std::uint16_t>(reserved);
        std::memcpy(header.data(), &head, sizeof head);
        const auto long_check = decode_head(header);
        const bool eager = long_check && long_check->kind == FrameKind::kEager;
        if (is_eager(head) != eager) FAIL("kind ", kind, " flags ", flags, " reserved ", reserved);
      }
    }
  }
}

TEST_CASE("a body comes out as it was put in") {
  Header<AtomicBody> header{};
  header.head.kind = FrameKind::kAtomic;
  header.head.seq = (std::uint64_t{1} << 63) - 3;
  header.body.key = 0x1122334455667788;
  header.body.count = 9;
  header.body.scalar = 4;
  REQUIRE(decode_head(bytes_of(header)));
  CHECK(decode_head(bytes_of(header))->seq == (std::uint64_t{1} << 63) - 3);
  const auto body = decode_body<AtomicBody>(bytes_of(header));
  CHECK(body.key == 0x1122334455667788);
  CHECK(body.count == 9);
  CHECK(body.scalar == 4);
}

TEST_CASE("random bytes never read past their end and are nearly always refused") {
  Random random(20);
  std::size_t taken = 0;
  for (int round = 0; round < 200'000; ++round) {
    Blob header(random.below(65));
    for (std::byte& byte : header) byte = static_cast<std::byte>(random.next());
    if (!header.empty() && random.chance(0.5)) header[0] = static_cast<std::byte>(random.below(72));
    taken += decode_head(header).has_value() ? 1 : 0;
  }
  CHECK(taken < 20);  // 16 reserved bits and the flags must be right by chance
}

TEST_CASE("the text names what one looks for in a log") {
  FrameHead head;
  head.kind = FrameKind::kEager;
  head.seq = 7;
  head.ack = 3;
  head.source_port = 1;
  head.target_port = 2;
  CHECK(to_text(head) == "eager seq=7 ack=3 ports=1->2");
}
