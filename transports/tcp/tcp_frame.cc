// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_frame.cc -- see tcp_frame.h.
#include "transports/tcp/tcp_frame.h"

#include "base/crc32c.h"

namespace livebtl::tcp {
namespace {

constexpr std::uint32_t kPreambleMagic = 0x54425642;  // "BVBT" on the wire
constexpr std::uint16_t kPreambleVersion = 1;

}  // namespace

void encode_head(const core::Frame& frame, bool with_payload_crc, Head& head) noexcept {
  const bool has_crc = with_payload_crc && !frame.payload.empty();
  Prelude prelude;
  prelude.magic = kFrameMagic;
  prelude.header_bytes = static_cast<std::uint8_t>(frame.header.size());
  prelude.flags = has_crc ? kFlagPayloadCrc : std::uint8_t{0};
  prelude.payload_bytes = static_cast<std::uint32_t>(frame.payload.size());
  prelude.payload_crc = has_crc ? crc32c(frame.payload) : 0;
  std::memcpy(head.raw.data(), &prelude, sizeof(prelude));
  std::memcpy(head.raw.data() + sizeof(prelude), frame.header.data(), frame.header.size());
  head.bytes = sizeof(prelude) + frame.header.size();
  const std::uint32_t head_crc = crc32c(head.view().subspan(sizeof(prelude.head_crc)));
  std::memcpy(head.raw.data(), &head_crc, sizeof(head_crc));
}

std::array<std::byte, kPreambleBytes> encode_preamble(std::uint64_t node) noexcept {
  std::array<std::byte, kPreambleBytes> raw{};
  std::memcpy(raw.data(), &kPreambleMagic, sizeof(kPreambleMagic));
  std::memcpy(raw.data() + 4, &kPreambleVersion, sizeof(kPreambleVersion));
  std::memcpy(raw.data() + 8, &node, sizeof(node));
  return raw;
}

std::optional<std::uint64_t> decode_preamble(Bytes bytes) noexcept {
  ByteReader reader(bytes);
  const auto magic = reader.take<std::uint32_t>();
  const auto version = reader.take<std::uint16_t>();
  const auto reserved = reader.take<std::uint16_t>();
  const auto node = reader.take<std::uint64_t>();
  if (!reader.finished() || magic != kPreambleMagic || version != kPreambleVersion || reserved != 0)
    return std::nullopt;
  return node;
}

}  // namespace livebtl::tcp
