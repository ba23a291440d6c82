// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_farewells.cc -- see ofi_farewells.h.
#include "transports/ofi/ofi_farewells.h"

#include <cstring>

namespace livebtl::ofi {
namespace {

constexpr TimeNs kOwedTime = 10 * kSecond;

long say(Domain& domain, std::uint32_t peer, const Route& route, std::uint32_t promised) noexcept {
  Buffer* const buffer = domain.begin_send(nullptr, peer, Use::kWord);
  if (buffer == nullptr) return -FI_EAGAIN;
  std::memcpy(buffer->bytes, &route, sizeof route);
  const std::size_t bytes =
      messages::encode_word(messages::Kind::kBye, promised, 0, buffer->bytes + sizeof route);
  return domain.send(*buffer, sizeof route + bytes);
}

}  // namespace

void Farewells::owe(Domain& domain, std::uint32_t peer, const Route& route,
                    std::uint32_t promised) {
  domain.peers().use(peer);
  owed_.push_back({peer, route, promised, 0});
}

// What is full for one peer may not be for the next one.
void Farewells::look(Domain& domain, TimeNs now) noexcept {
  std::erase_if(owed_, [&](Owed& each) {
    if (each.since == 0) each.since = now;
    const long code = say(domain, each.peer, each.route, each.promised);
    if (code == -FI_EAGAIN && now - each.since < kOwedTime) return false;
    domain.peers().leave(each.peer);
    return true;
  });
}

}  // namespace livebtl::ofi
