// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_farewells.cc -- see ofi_farewells.h.
#include "transports/ofi/ofi_farewells.h"

#include <cstring>

namespace livebtl::ofi {
namespace {

constexpr TimeNs kOwedTime = 10 * kSecond;

}  // namespace

void Farewells::owe(Domain& domain, std::uint32_t peer, const Route& route, std::uint32_t promised,
                    TimeNs now) {
  domain.peers().use(peer);
  owed_.push_back({peer, route, promised, now});
}

// What is full for one peer may not be for the next one.
void Farewells::say_owed(Domain& domain, TimeNs now) noexcept {
  std::erase_if(owed_, [&](const Owed& each) {
    long code = -FI_EAGAIN;
    if (Buffer* const buffer = domain.begin_send(nullptr, each.peer, Use::kWord)) {
      std::memcpy(buffer->bytes, &each.route, sizeof each.route);
      const std::size_t bytes = messages::encode_word(messages::Kind::kBye, each.promised, 0,
                                                      buffer->bytes + sizeof each.route);
      code = domain.send(*buffer, sizeof each.route + bytes);
    }
    if (code == -FI_EAGAIN && now - each.since < kOwedTime) return false;
    domain.peers().leave(each.peer);
    return true;
  });
}

}  // namespace livebtl::ofi
