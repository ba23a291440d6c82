// SPDX-License-Identifier: BSD-3-Clause
// core/lane/frame.h -- the wire format above a transport: one fixed header per kind, little-endian.
// docs/WIRE.md is the specification; change both. Pure: no state, no I/O.
//
// Decoding checks size, kind and reserved bits; the receiver checks the meaning (keys, offsets,
// transfers).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace livebtl::core {

enum class FrameKind : std::uint8_t {
  // Ordered lane: numbered, one path at a time per direction, exactly once.
  kEager = 1,     // body MessageBody, payload the message
  kRts = 2,       // body RtsBody: a rendezvous is offered; plain, tagged, put or get
  kCts = 3,       // body CtsBody: send me the transfer from `offset` on, as attempt n
  kFin = 4,       // body FinBody: the transfer is complete (code 0) or was given up, by either side
  kDone = 5,      // body FinBody: a delivery_complete send, a put or a valueless atomic is done
  kActive = 6,    // body MessageBody: tag is the argument, data the handler; payload the message
  kPut = 7,       // body RemoteBody, payload the bytes
  kGet = 8,       // body RemoteBody, no payload: answered by kGetReply, or by an offer (kRts)
  kGetReply = 9,  // body FinBody, payload the bytes
  kAtomic = 10,   // body AtomicBody, payload operand [, compare]
  kAtomicReply = 11,  // body FinBody, payload what was fetched
  kAddresses = 12,    // no body, payload the sender's transport addresses (core/path/handshake.h)
  // Placed lane: not numbered, placed on arrival from any path, counted by intervals.
  kData = 32,  // body DataBody, payload a fragment of a transfer
  // Path control: not numbered, not credited; about this path or pair.
  kAck = 64,        // body CreditBody; head.ack acknowledges
  kMarker = 65,     // body PathBody: nothing more comes on this path
  kMarkerAck = 66,  // body PathBody: that path's marker has arrived, and all before it
  kPathDown = 67,   // body PathBody: that path is lost; take it down too
  kProbe = 68,      // body PathBody: answer with kAck, on this path
  kHello = 69,      // no body, payload a handshake message (core/path/handshake.h)
  kGoodbye = 70,    // body PathBody: the process ends in good order
  // body PathBody: the path to be made; payload: its transport, the dialler's ticket
  kTicket = 71,
  kTicketBack = 72,  // body PathBody, payload the other end's ticket; empty: refused
  kBox = 73,         // body PathBody: about a fast box of this path (core/path/fast_box.h)
};

enum FrameFlag : std::uint8_t {
  // kEager, kRts: `data` is the user's. kPut, kRts of a put: the payload begins with the user's 64
  // bits
  kFlagHasData = 1,
  kFlagTagged = 2,  // kEager, kRts: a tagged message (else plain)
  // kEager, kRts: answer kDone once it is in the target's buffer. kDone: answers such a message,
  // named by its number (else: a put or atomic, named by its operation)
  kFlagWantDone = 4,
  kFlagAckWanted = 8,  // any: acknowledge soon
  kFlagPut = 16,       // kRts: a put (RtsBody.tag is the key, data the address)
  kFlagGet = 32,       // kRts: answers a kGet (RtsBody.tag is its operation, data 0)
  kFlagGivenUp = 64,   // kFin: from the data's sender: no more follows; names the receiver's handle
  // kRts of a message: data follow unrequested. kData: such data, under the sender's name. kCts:
  // none of them were dropped; continue after them. kFin: all was read where the offer said
  kFlagAhead = 128,
};

/// 24 bytes, first in every header.
struct FrameHead {
  FrameKind kind{};
  std::uint8_t flags = 0;
  std::uint16_t reserved = 0;
  std::uint16_t target_port = 0;
  std::uint16_t source_port = 0;
  std::uint64_t seq = 0;  // ordered lane: this frame's number, from 1. Others: 0
  std::uint64_t ack = 0;  // all of the peer's numbered frames below this are taken
};
static_assert(sizeof(FrameHead) == 24);

struct MessageBody {
  std::uint64_t tag = 0;
  std::uint64_t data = 0;
};
struct RtsBody {
  std::uint64_t tag = 0;
  std::uint64_t data = 0;
  std::uint64_t length = 0;
  std::uint64_t transfer = 0;  // the sender's name for it, never reused by that process
};
struct CtsBody {
  std::uint64_t transfer = 0;
  std::uint64_t offset = 0;  // everything before it has arrived
  std::uint64_t length = 0;  // bytes wanted in all (less than offered: truncated)
  std::uint64_t handle = 0;  // the receiver's name for it: goes into the data frames
  std::uint32_t attempt = 0;
  std::uint32_t reserved = 0;
};
struct FinBody {
  std::uint64_t operation = 0;  // transfer or operation id of the process that asked
  std::uint32_t code = 0;       // an Errc
  std::uint32_t reserved = 0;
};
struct RemoteBody {
  std::uint64_t key = 0;
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  std::uint64_t operation = 0;
};
struct AtomicBody {
  std::uint64_t key = 0;
  std::uint64_t address = 0;
  std::uint64_t operation = 0;
  std::uint32_t count = 0;
  std::uint8_t op = 0;      // AtomicOp
  std::uint8_t scalar = 0;  // Scalar
  std::uint8_t fetch = 0;   // 1: answer with kAtomicReply, else kDone
  std::uint8_t reserved = 0;
};
struct DataBody {
  std::uint64_t handle = 0;  // from CtsBody; kFlagAhead: the transfer, from RtsBody
  std::uint64_t offset = 0;
  std::uint32_t attempt = 0;
  std::uint32_t reserved = 0;
};
struct CreditBody {
  std::uint64_t released_bytes = 0;  // unexpected-message credit given back since the pair began
  std::uint64_t released_headers = 0;
};
struct PathBody {
  std::uint64_t path = 0;  // the path's id, drawn by the dialler
  // kMarker: its ordinal on the path; kMarkerAck: the marker's; kGoodbye: the number after the last
  // frame that the process meant to send; kBox: a BoxNote in the low byte, above it the ordinal of
  // the request it concerns; else 0
  std::uint64_t seq = 0;
};

/// Does the kind belong to the ordered lane?
constexpr bool is_ordered(FrameKind kind) noexcept { return static_cast<std::uint8_t>(kind) < 32; }

/// A header as posted: the head, then the body.
template <class Body>
struct Header {
  FrameHead head;
  Body body;
};
static_assert(sizeof(Header<CtsBody>) <= 64 && sizeof(Header<AtomicBody>) <= 64);

/// What a kind's header must look like. header_bytes 0: there is no such kind.
struct FrameShape {
  std::uint8_t header_bytes = 0;  // head and body
  std::uint8_t flags_allowed = 0;
  bool body_has_rules = false;  // reserved or 0/1 fields, or exclusive flags
};
inline constexpr std::size_t kFrameKindsEnd = 74;
/// Indexed by kind.
extern const std::array<FrameShape, kFrameKindsEnd> kFrameShapes;

/// Are the body's reserved fields 0, its booleans 0 or 1, an RTS's flags compatible? Requires: the
/// right size.
bool body_keeps_rules(FrameKind kind, Bytes header) noexcept;

inline constexpr std::uint8_t kEagerFlags =
    kFlagHasData | kFlagTagged | kFlagWantDone | kFlagAckWanted;
/// decode_head()'s verdict on kind, flags and reserved bits of an eager message, in one comparison;
/// the caller must check its size and number.
inline bool is_eager(const FrameHead& head) noexcept {
  std::uint32_t first;
  std::memcpy(&first, &head, sizeof first);
  return (first & ~(std::uint32_t{kEagerFlags} << 8U)) ==
         static_cast<std::uint32_t>(FrameKind::kEager);
}
static_assert(offsetof(FrameHead, kind) == 0 && offsetof(FrameHead, flags) == 1 &&
              offsetof(FrameHead, reserved) == 2);

/// The head of a frame from outside; nullopt: malformed (unknown kind, size other than head and
/// body of that kind, reserved bits set, flags that the kind does not have, a number where none
/// belongs or none where one does).
inline std::optional<FrameHead> decode_head(Bytes header) noexcept {
  if (header.size() < sizeof(FrameHead)) [[unlikely]]
    return std::nullopt;
  FrameHead head;
  std::memcpy(&head, header.data(), sizeof head);
  const auto kind = static_cast<std::uint8_t>(head.kind);
  if (kind >= kFrameKindsEnd) [[unlikely]]
    return std::nullopt;
  const FrameShape& shape = kFrameShapes[kind];
  if (header.size() != shape.header_bytes || (head.flags & ~shape.flags_allowed) != 0 ||
      head.reserved != 0 || is_ordered(head.kind) != (head.seq != 0)) [[unlikely]] {
    return std::nullopt;
  }
  if (shape.body_has_rules && !body_keeps_rules(head.kind, header)) [[unlikely]]
    return std::nullopt;
  return head;
}
/// The body. Requires: decode_head() accepted a kind with it.
template <class Body>
Body decode_body(Bytes header) noexcept {
  Body body;
  std::memcpy(&body, header.data() + sizeof(FrameHead), sizeof(Body));
  return body;
}

/// For logs: "eager seq=7 ack=3 ports=1->2".
std::string to_text(const FrameHead& head);

}  // namespace livebtl::core
