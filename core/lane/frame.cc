// SPDX-License-Identifier: BSD-3-Clause
// core/lane/frame.cc -- the shape of every kind of header, and the checks that decode_head() leaves to
// here. Pure; runs on whichever thread holds the engine's lock.
#include "core/lane/frame.h"

#include <bit>
#include <cinttypes>
#include <cstddef>
#include <cstdio>

namespace livebtl::core {
namespace {

template <class Body>
constexpr FrameShape shape(int flags, bool body_has_rules = false) {
  static_assert(sizeof(Header<Body>) == sizeof(FrameHead) + sizeof(Body), "no padding");
  return {sizeof(Header<Body>), static_cast<std::uint8_t>(flags | kFlagAckWanted), body_has_rules};
}

constexpr std::array<FrameShape, kFrameKindsEnd> all_shapes() {
  std::array<FrameShape, kFrameKindsEnd> shapes{};
  const auto at = [&shapes](FrameKind kind) -> FrameShape& {
    return shapes[static_cast<std::size_t>(kind)];
  };
  constexpr bool kRules = true;
  at(FrameKind::kEager) = shape<MessageBody>(kEagerFlags);
  at(FrameKind::kRts) =
      shape<RtsBody>(kFlagHasData | kFlagTagged | kFlagWantDone | kFlagPut | kFlagGet, kRules);
  at(FrameKind::kCts) = shape<CtsBody>(0, kRules);
  at(FrameKind::kFin) = shape<FinBody>(kFlagGivenUp, kRules);
  at(FrameKind::kDone) = shape<FinBody>(kFlagWantDone, kRules);
  at(FrameKind::kActive) = shape<MessageBody>(0);
  at(FrameKind::kPut) = shape<RemoteBody>(kFlagHasData);
  at(FrameKind::kGet) = shape<RemoteBody>(0);
  at(FrameKind::kGetReply) = shape<FinBody>(0, kRules);
  at(FrameKind::kAtomic) = shape<AtomicBody>(0, kRules);
  at(FrameKind::kAtomicReply) = shape<FinBody>(0, kRules);
  at(FrameKind::kData) = shape<DataBody>(0, kRules);
  at(FrameKind::kAck) = shape<CreditBody>(0);
  for (const FrameKind kind :
       {FrameKind::kMarker, FrameKind::kMarkerAck, FrameKind::kPathDown, FrameKind::kProbe,
        FrameKind::kGoodbye, FrameKind::kTicket, FrameKind::kTicketBack}) {
    at(kind) = shape<PathBody>(0);
  }
  at(FrameKind::kAddresses) = {sizeof(FrameHead), kFlagAckWanted, false};
  at(FrameKind::kHello) = {sizeof(FrameHead), 0, false};
  return shapes;
}

struct KindName {
  FrameKind kind;
  const char* name;
};
constexpr KindName kKindNames[] = {
    {FrameKind::kEager, "eager"},
    {FrameKind::kRts, "rts"},
    {FrameKind::kCts, "cts"},
    {FrameKind::kFin, "fin"},
    {FrameKind::kDone, "done"},
    {FrameKind::kActive, "active"},
    {FrameKind::kPut, "put"},
    {FrameKind::kGet, "get"},
    {FrameKind::kGetReply, "get-reply"},
    {FrameKind::kAtomic, "atomic"},
    {FrameKind::kAtomicReply, "atomic-reply"},
    {FrameKind::kAddresses, "addresses"},
    {FrameKind::kData, "data"},
    {FrameKind::kAck, "ack"},
    {FrameKind::kMarker, "marker"},
    {FrameKind::kMarkerAck, "marker-ack"},
    {FrameKind::kPathDown, "path-down"},
    {FrameKind::kProbe, "probe"},
    {FrameKind::kHello, "hello"},
    {FrameKind::kGoodbye, "goodbye"},
    {FrameKind::kTicket, "ticket"},
    {FrameKind::kTicketBack, "ticket-back"},
};

const char* kind_name(FrameKind kind) noexcept {
  for (const KindName& each : kKindNames) {
    if (each.kind == kind) return each.name;
  }
  return "unknown";
}

}  // namespace

constinit const std::array<FrameShape, kFrameKindsEnd> kFrameShapes = all_shapes();

bool body_keeps_rules(FrameKind kind, Bytes header) noexcept {
  switch (kind) {
    case FrameKind::kRts: {
      // An offer is one thing: a tagged message, a put (a key where a message has its tag), or a
      // get's answer.
      const auto flags = std::to_integer<unsigned>(header[offsetof(FrameHead, flags)]);
      return std::popcount(flags & (kFlagTagged | kFlagPut | kFlagGet)) <= 1;
    }
    case FrameKind::kCts:
      return decode_body<CtsBody>(header).reserved == 0;
    case FrameKind::kFin:
    case FrameKind::kDone:
    case FrameKind::kGetReply:
    case FrameKind::kAtomicReply:
      return decode_body<FinBody>(header).reserved == 0;
    case FrameKind::kAtomic: {
      const auto body = decode_body<AtomicBody>(header);
      return body.reserved == 0 && body.fetch <= 1;
    }
    case FrameKind::kData:
      return decode_body<DataBody>(header).reserved == 0;
    default:
      return true;
  }
}

std::string to_text(const FrameHead& head) {
  char text[128];
  std::snprintf(text, sizeof text, "%s seq=%" PRIu64 " ack=%" PRIu64 " ports=%u->%u",
                kind_name(head.kind), head.seq, head.ack, unsigned{head.source_port},
                unsigned{head.target_port});
  return text;
}

}  // namespace livebtl::core
