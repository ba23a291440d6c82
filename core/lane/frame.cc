// SPDX-License-Identifier: BSD-3-Clause
// core/lane/frame.cc -- the shape of every kind of header, and the checks that decode_head() calls
// out of line. Pure; runs on whichever thread holds the engine's lock.
#include "core/lane/frame.h"

#include <algorithm>
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

struct Kind {
  FrameKind kind;
  const char* name;
  FrameShape shape;
};
constexpr bool kRules = true;
constexpr Kind kKinds[] = {
    {FrameKind::kEager, "eager", shape<MessageBody>(kEagerFlags)},
    {FrameKind::kRts, "rts",
     shape<RtsBody>(kFlagHasData | kFlagTagged | kFlagWantDone | kFlagPut | kFlagGet | kFlagAhead,
                    kRules)},
    {FrameKind::kCts, "cts", shape<CtsBody>(kFlagAhead, kRules)},
    {FrameKind::kFin, "fin", shape<FinBody>(kFlagGivenUp | kFlagAhead, kRules)},
    {FrameKind::kDone, "done", shape<FinBody>(kFlagWantDone, kRules)},
    {FrameKind::kActive, "active", shape<MessageBody>(0)},
    {FrameKind::kPut, "put", shape<RemoteBody>(kFlagHasData)},
    {FrameKind::kGet, "get", shape<RemoteBody>(0)},
    {FrameKind::kGetReply, "get-reply", shape<FinBody>(0, kRules)},
    {FrameKind::kAtomic, "atomic", shape<AtomicBody>(0, kRules)},
    {FrameKind::kAtomicReply, "atomic-reply", shape<FinBody>(0, kRules)},
    {FrameKind::kAddresses, "addresses", {sizeof(FrameHead), kFlagAckWanted, false}},
    {FrameKind::kData, "data", shape<DataBody>(kFlagAhead, kRules)},
    {FrameKind::kAck, "ack", shape<CreditBody>(0)},
    {FrameKind::kMarker, "marker", shape<PathBody>(0)},
    {FrameKind::kMarkerAck, "marker-ack", shape<PathBody>(0)},
    {FrameKind::kPathDown, "path-down", shape<PathBody>(0)},
    {FrameKind::kProbe, "probe", shape<PathBody>(0)},
    {FrameKind::kHello, "hello", {sizeof(FrameHead), 0, false}},
    {FrameKind::kGoodbye, "goodbye", shape<PathBody>(0)},
    {FrameKind::kTicket, "ticket", shape<PathBody>(0)},
    {FrameKind::kTicketBack, "ticket-back", shape<PathBody>(0)},
    {FrameKind::kBox, "box", shape<PathBody>(0)},
};

constexpr std::array<FrameShape, kFrameKindsEnd> shapes_by_kind() {
  std::array<FrameShape, kFrameKindsEnd> shapes{};
  for (const Kind& each : kKinds) shapes[static_cast<std::size_t>(each.kind)] = each.shape;
  return shapes;
}

// A FIN says that a message was read with its offer, or that its sender gave it up.
bool given_up_and_read(Bytes fin) noexcept {
  constexpr unsigned kBoth = kFlagGivenUp | kFlagAhead;
  return (std::to_integer<unsigned>(fin[offsetof(FrameHead, flags)]) & kBoth) == kBoth;
}

}  // namespace

constinit const std::array<FrameShape, kFrameKindsEnd> kFrameShapes = shapes_by_kind();

bool body_keeps_rules(FrameKind kind, Bytes header) noexcept {
  switch (kind) {
    case FrameKind::kRts: {
      // At most one of: tagged message, put (with a key in place of the tag), answer to a get. Only
      // a message's data may go ahead.
      const auto flags = std::to_integer<unsigned>(header[offsetof(FrameHead, flags)]);
      const bool message = (flags & (kFlagPut | kFlagGet)) == 0;
      return std::popcount(flags & (kFlagTagged | kFlagPut | kFlagGet)) <= 1 &&
             (message || (flags & kFlagAhead) == 0);
    }
    case FrameKind::kCts:
      return decode_body<CtsBody>(header).reserved == 0;
    case FrameKind::kFin:
      return !given_up_and_read(header) && decode_body<FinBody>(header).reserved == 0;
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
  const auto* const known = std::ranges::find(kKinds, head.kind, &Kind::kind);
  char text[128];
  std::snprintf(text, sizeof text, "%s seq=%" PRIu64 " ack=%" PRIu64 " ports=%u->%u",
                known != std::end(kKinds) ? known->name : "unknown", head.seq, head.ack,
                unsigned{head.source_port}, unsigned{head.target_port});
  return text;
}

}  // namespace livebtl::core
