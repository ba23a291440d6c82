// SPDX-License-Identifier: BSD-3-Clause
// transports/messages/message.cc -- see message.h.
#include "transports/messages/message.h"

#include "base/crc32c.h"

namespace livebtl::messages {
namespace {

constexpr std::size_t kCrcBytes = sizeof(Head::crc);

std::size_t seal(Head& head, std::byte* to) noexcept {
  const std::size_t bytes = sizeof head + head.header_bytes;
  std::memcpy(to, &head, sizeof head);
  head.crc = crc32c({to + kCrcBytes, bytes - kCrcBytes});
  std::memcpy(to, &head.crc, kCrcBytes);
  return bytes;
}

bool well_formed(const Head& head, std::size_t payload_bytes) noexcept {
  if (head.reserved != 0 || head.payload_crc_given > 1) return false;
  if (head.payload_crc_given == 0 && head.payload_crc != 0 && head.kind != Kind::kReads)
    return false;
  if (head.kind == Kind::kFrame) return head.header_bytes != 0;
  if (head.kind == Kind::kExposed)
    return head.header_bytes != 0 && head.payload_crc_given == 1 && payload_bytes != 0 &&
           payload_bytes <= kWhereBytesMax;
  const bool control =
      head.kind == Kind::kCredit || head.kind == Kind::kBye || head.kind == Kind::kReads;
  return control && head.header_bytes == 0 && head.payload_crc_given == 0 && payload_bytes == 0;
}

}  // namespace

std::size_t encode_frame(const core::Frame& frame, std::uint32_t granted, bool payload_crc,
                         std::byte* to) noexcept {
  Head head;
  head.kind = Kind::kFrame;
  head.header_bytes = static_cast<std::uint8_t>(frame.header.size());
  head.payload_crc_given = payload_crc ? 1 : 0;
  head.granted = granted;
  if (payload_crc) head.payload_crc = crc32c(frame.payload);
  copy_small(to + sizeof head, frame.header.data(), frame.header.size());
  return seal(head, to);
}

std::size_t encode_exposed(Bytes header, Bytes where, std::uint32_t granted,
                           std::byte* to) noexcept {
  Head head;
  head.kind = Kind::kExposed;
  head.header_bytes = static_cast<std::uint8_t>(header.size());
  head.payload_crc_given = 1;
  head.granted = granted;
  head.payload_crc = crc32c(where);
  copy_small(to + sizeof head, header.data(), header.size());
  const std::size_t begin = seal(head, to);
  copy_small(to + begin, where.data(), where.size());
  return begin + where.size();
}

std::size_t encode_control(Kind kind, std::uint32_t granted, std::uint32_t read,
                           std::byte* to) noexcept {
  Head head;
  head.kind = kind;
  head.payload_crc = read;
  head.granted = granted;
  return seal(head, to);
}

std::optional<Message> decode_message(Bytes bytes, std::size_t payload_bytes_max,
                                      const char*& why) noexcept {
  const auto bad = [&why](const char* text) {
    why = text;
    return std::nullopt;
  };
  Message message;
  if (bytes.size() < sizeof(Head)) return bad("a message too short");
  std::memcpy(&message.head, bytes.data(), sizeof(Head));
  const std::size_t begin = sizeof(Head) + message.head.header_bytes;
  if (message.head.header_bytes > core::kHeaderBytesMax || bytes.size() < begin)
    return bad("a message too short for its header");
  if (crc32c(bytes.subspan(kCrcBytes, begin - kCrcBytes)) != message.head.crc)
    return bad("a wrong checksum over a header");
  message.header = bytes.subspan(sizeof(Head), message.head.header_bytes);
  message.payload = bytes.subspan(begin);
  if (!well_formed(message.head, message.payload.size())) return bad("a malformed message");
  if (message.payload.size() > payload_bytes_max) return bad("a payload longer than allowed");
  if (message.head.payload_crc_given != 0 && crc32c(message.payload) != message.head.payload_crc)
    return bad("a wrong checksum over a payload");
  return message;
}

}  // namespace livebtl::messages
