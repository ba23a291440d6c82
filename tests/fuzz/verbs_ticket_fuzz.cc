// SPDX-License-Identifier: BSD-3-Clause
// tests/fuzz/verbs_ticket_fuzz.cc -- any bytes as a ticket, as an address and as a message of the
// verbs transport: refused, or sane and stable. A message is also tried with the checksum that
// matches its head.
#include "base/assert.h"
#include "base/crc32c.h"
#include "tests/fuzz/reached.h"
#include "transports/verbs/verbs_address.h"

namespace livebtl::verbs {
namespace {

void fuzz_ticket(Bytes input) {
  const auto ticket = decode_ticket(input);
  fuzz::Reached::note(ticket.has_value());
  if (!ticket) {
    LIVEBTL_ASSERT(ticket.error().code == Errc::kInvalid && !ticket.error().text.empty(),
                   "a refusal says why");
    return;
  }
  LIVEBTL_ASSERT(ticket->queue_pair != 0 && ticket->queue_pair < 1u << 24, "a queue pair's number");
  LIVEBTL_ASSERT(ticket->mtu >= 1 && ticket->mtu <= 5, "an mtu that a device can be given");
  LIVEBTL_ASSERT(may_reach(ticket->port, ticket->port), "a port reaches its like");
  LIVEBTL_ASSERT(encode_ticket(*ticket) == Blob(input.begin(), input.end()),
                 "one value has one encoding");
}

void fuzz_address(Bytes input) {
  const auto address = decode_address(input);
  if (!address) return;
  const auto nearness = nearness_in(input);
  const bool of_several = std::to_integer<int>(input[0]) == 2;
  const Blob again =
      nearness ? encode_address(*address, nearness) : encode_contact(*address, of_several);
  LIVEBTL_ASSERT(again == Blob(input.begin(), input.end()), "one value has one encoding");
  LIVEBTL_ASSERT(!to_text(address->gid).empty(), "people can read it");
}

void fuzz_message(Bytes input) {
  const char* why = nullptr;
  const auto message = messages::decode_message(input, core::kUntrustedPayloadMax, why);
  LIVEBTL_ASSERT(message.has_value() == (why == nullptr), "a refusal says why");
  if (!message) return;
  const bool frame = message->head.kind == Kind::kFrame || message->head.kind == Kind::kExposed;
  LIVEBTL_ASSERT(frame == !message->header.empty(), "a frame has a header, a control message none");
  LIVEBTL_ASSERT(message->header.size() <= core::kHeaderBytesMax &&
                     message->payload.size() <= core::kUntrustedPayloadMax,
                 "the lengths keep to the limits");
  if (message->head.kind == Kind::kExposed) {
    const auto remote = messages::decode_exposed<RemoteBuffer>(message->payload);
    LIVEBTL_ASSERT(!remote || (remote->bytes >= messages::kExposedBytesMin &&
                               remote->bytes <= messages::kExposedBytesMax),
                   "an exposed buffer keeps to the limits");
  }
  LIVEBTL_ASSERT(
      sizeof(messages::Head) + message->header.size() + message->payload.size() == input.size(),
      "the message is used up");
}

void fuzz_sealed(Bytes input) {
  if (input.size() < sizeof(messages::Head)) return;
  Blob sealed(input.begin(), input.end());
  const std::size_t header_bytes =
      std::min(std::to_integer<std::size_t>(sealed[5]), sealed.size() - sizeof(messages::Head));
  const std::uint32_t crc =
      crc32c(Bytes(sealed).subspan(4, sizeof(messages::Head) - 4 + header_bytes));
  std::memcpy(sealed.data(), &crc, sizeof crc);
  fuzz_message(sealed);
}

}  // namespace
}  // namespace livebtl::verbs

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const livebtl::Bytes input{reinterpret_cast<const std::byte*>(data), size};
  livebtl::verbs::fuzz_ticket(input);
  livebtl::verbs::fuzz_address(input);
  livebtl::verbs::fuzz_message(input);
  livebtl::verbs::fuzz_sealed(input);
  return 0;
}
