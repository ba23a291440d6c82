// SPDX-License-Identifier: BSD-3-Clause
// control/wire/local_frame.cc -- see local_frame.h.
#include "control/wire/local_frame.h"

namespace livebtl::control {
namespace {

constexpr std::uint8_t kVersion = 1;

struct Head {
  std::uint8_t version = kVersion;
  std::uint8_t zero = 0;
  std::uint16_t back_bytes = 0;
  std::uint16_t to_bytes = 0;
  std::uint16_t also_zero = 0;
};
static_assert(sizeof(Head) == kLocalHeadBytes);

}  // namespace

std::optional<std::array<std::byte, kLocalHeadBytes>> local_head(
    const Envelope& envelope) noexcept {
  if (envelope.back.size() > kBackBytesMax || envelope.to.size() > kToBytesMax ||
      envelope.body.size() > kMessageBytesMax) {
    return std::nullopt;
  }
  Head head;
  head.back_bytes = static_cast<std::uint16_t>(envelope.back.size());
  head.to_bytes = static_cast<std::uint16_t>(envelope.to.size());
  return std::bit_cast<std::array<std::byte, kLocalHeadBytes>>(head);
}

std::optional<std::string> format_local(const Envelope& envelope) {
  const auto head = local_head(envelope);
  if (!head) return std::nullopt;
  std::string packet(reinterpret_cast<const char*>(head->data()), head->size());
  packet += envelope.back;
  packet += envelope.to;
  packet += envelope.body;
  return packet;
}

std::optional<Envelope> parse_local(std::string_view packet) {
  if (packet.size() < kLocalHeadBytes || packet.size() > kLocalPacketMax) return std::nullopt;
  Head head;
  std::memcpy(&head, packet.data(), sizeof head);
  packet.remove_prefix(sizeof head);
  const std::size_t back = head.back_bytes;
  const std::size_t to = head.to_bytes;
  if (head.version != kVersion || head.zero != 0 || head.also_zero != 0) return std::nullopt;
  if (back > kBackBytesMax || to > kToBytesMax || back + to > packet.size()) return std::nullopt;
  Envelope envelope;
  envelope.back = packet.substr(0, back);
  envelope.to = packet.substr(back, to);
  envelope.body = packet.substr(back + to);
  if (envelope.body.size() > kMessageBytesMax) return std::nullopt;
  return envelope;
}

}  // namespace livebtl::control
