// SPDX-License-Identifier: BSD-3-Clause
// tests/fuzz/tcp_address_fuzz.cc -- any bytes as an address or contact, and as a preamble: either
// refused, or sane and stable.
#include <algorithm>

#include "base/assert.h"
#include "tests/fuzz/reached.h"
#include "transports/tcp/tcp_address.h"
#include "transports/tcp/tcp_frame.h"
#include "transports/tcp/tcp_interfaces.h"

namespace livebtl::tcp {
namespace {

void fuzz_address(Bytes input) {
  const auto reachable = decode_address(input);
  fuzz::Reached::note(reachable.has_value());
  if (!reachable) {
    LIVEBTL_ASSERT(reachable.error().code == Errc::kInvalid && !reachable.error().text.empty(),
                   "a refusal says why");
    return;
  }
  LIVEBTL_ASSERT(!reachable->sockets.empty() && reachable->sockets.size() <= kSocketsMax,
                 "the count was checked");
  for (const SocketAddress& socket : reachable->sockets) {
    LIVEBTL_ASSERT(socket.port != 0 && is_unicast(socket.ip), "one can connect to it");
    LIVEBTL_ASSERT(from_raw(to_raw(socket).get()) == socket, "system addresses convert both ways");
  }
  const Blob again = reachable->node ? encode_address(*reachable) : encode_contact(*reachable);
  LIVEBTL_ASSERT(again == Blob(input.begin(), input.end()), "one value has one encoding");
  Reachable own = *reachable;
  own.network_is_short = false;
  const std::vector<LocalAddress> local{{"eth0", reachable->sockets[0].ip, 120}};
  for (const SocketAddress& candidate : order_candidates(own, local, *reachable)) {
    const auto stands_for = [&](const SocketAddress& told) {
      return told == candidate || (is_loopback(candidate.ip) && told.port == candidate.port &&
                                   told.ip == local.front().ip);
    };
    LIVEBTL_ASSERT(std::ranges::any_of(reachable->sockets, stands_for),
                   "none is invented: it was told, or is loopback for an own address that was");
  }
}

void fuzz_preamble(Bytes input) {
  const auto preamble = decode_preamble(input);
  if (!preamble) return;
  const auto again = encode_preamble(*preamble);
  LIVEBTL_ASSERT(Blob(again.begin(), again.end()) == Blob(input.begin(), input.end()),
                 "one value has one encoding");
}

}  // namespace
}  // namespace livebtl::tcp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const livebtl::Bytes input{reinterpret_cast<const std::byte*>(data), size};
  livebtl::tcp::fuzz_address(input);
  livebtl::tcp::fuzz_preamble(input);
  return 0;
}
