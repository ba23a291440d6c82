// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_pending_byes.cc -- see ofi_pending_byes.h.
#include "transports/ofi/ofi_pending_byes.h"

#include <cstring>

namespace livebtl::ofi {
namespace {

constexpr TimeNs kPendingTime = 10 * kSecond;

long send_bye(Domain& domain, std::uint32_t peer, const Route& route,
              std::uint32_t granted) noexcept {
  Buffer* const buffer = domain.begin_send(nullptr, peer, Use::kControl);
  if (buffer == nullptr) return -FI_EAGAIN;
  std::memcpy(buffer->bytes, &route, sizeof route);
  const std::size_t bytes =
      messages::encode_control(messages::Kind::kBye, granted, 0, buffer->bytes + sizeof route);
  return domain.send(*buffer, sizeof route + bytes);
}

}  // namespace

void PendingByes::add(Domain& domain, std::uint32_t peer, const Route& route,
                      std::uint32_t granted) {
  domain.peers().use(peer);
  pending_.push_back({peer, route, granted, 0});
}

// The provider may be busy for one peer and not for the next.
void PendingByes::look(Domain& domain, TimeNs now) noexcept {
  std::erase_if(pending_, [&](Pending& each) {
    if (each.since == 0) each.since = now;
    const long code = send_bye(domain, each.peer, each.route, each.granted);
    if (code == -FI_EAGAIN && now - each.since < kPendingTime) return false;
    domain.peers().leave(each.peer);
    return true;
  });
}

}  // namespace livebtl::ofi
