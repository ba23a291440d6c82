// SPDX-License-Identifier: BSD-3-Clause
// tests/fuzz/ofi_ticket_fuzz.cc -- any bytes as a ticket and as an address of the ofi transport:
// refused, or sane and stable. (Its messages are those of verbs_ticket_fuzz.cc.)
#include "base/assert.h"
#include "tests/fuzz/reached.h"
#include "transports/ofi/ofi_address.h"

namespace livebtl::ofi {
namespace {

void fuzz_ticket(Bytes input) {
  const auto ticket = decode_ticket(input);
  fuzz::Reached::note(ticket.has_value());
  if (!ticket) {
    LIVEBTL_ASSERT(ticket.error().code == Errc::kInvalid && !ticket.error().text.empty(),
                   "a refusal says why");
    return;
  }
  LIVEBTL_ASSERT(
      ticket->token != 0 && !ticket->name.empty() && ticket->name.size() <= kNameBytesMax,
      "a ticket has a token and a name");
  LIVEBTL_ASSERT(may_reach(ticket->address, ticket->address), "a transport reaches its like");
  LIVEBTL_ASSERT(encode_ticket(*ticket) == Blob(input.begin(), input.end()),
                 "one value has one encoding");
}

void fuzz_address(Bytes input) {
  const auto address = decode_address(input);
  if (!address) return;
  LIVEBTL_ASSERT(encode_address(*address) == Blob(input.begin(), input.end()),
                 "one value has one encoding");
}

}  // namespace
}  // namespace livebtl::ofi

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const livebtl::Bytes input{reinterpret_cast<const std::byte*>(data), size};
  livebtl::ofi::fuzz_ticket(input);
  livebtl::ofi::fuzz_address(input);
  return 0;
}
