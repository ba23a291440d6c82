// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_peers.cc -- see ofi_peers.h.
#include "transports/ofi/ofi_peers.h"

#include <algorithm>

#include "base/assert.h"

namespace livebtl::ofi {

// libfabric trusts what a name says about itself, so it must have the form and the family of our
// own.
bool Peers::is_name(Bytes name) const noexcept {
  const Bytes own(own_);
  if (format_ != FI_ADDR_STR) {
    constexpr std::size_t kFamilyBytes = 2;
    return name.size() == own.size() && own.size() >= kFamilyBytes &&
           std::equal(own.begin(), own.begin() + kFamilyBytes, name.begin());
  }
  const auto colon = std::find(own.begin(), own.end(), std::byte{':'});
  const auto scheme = static_cast<std::size_t>(colon - own.begin());
  return std::find(name.begin(), name.end(), std::byte{0}) == name.end() - 1 &&
         name.size() > scheme && std::equal(own.begin(), colon, name.begin());
}

Result<std::uint32_t> Peers::enter(Bytes name) {
  // Unused peers that are kept in case they return. (sockets would make a new connection for an
  // address that was removed and is added again, and keep the old one.)
  constexpr std::uint32_t kUnusedMax = 256;
  const Blob key(name.begin(), name.end());
  if (const auto known = by_name_.find(key); known != by_name_.end()) {
    if (peers_[known->second].uses++ == 0) --unused_;
    return known->second;
  }
  fi_addr_t address = FI_ADDR_NOTAVAIL;
  const int count = is_name(name) ? fi_av_insert(table_, key.data(), 1, &address, 0, nullptr) : 0;
  if (count != 1)
    return fail(Errc::kInvalid, "ofi: the provider does not accept the peer's address");
  if (unused_ > kUnusedMax) forget_one();
  const auto free = std::find_if(peers_.begin(), peers_.end(),
                                 [](const Peer& peer) { return peer.name.empty(); });
  const auto index = static_cast<std::uint32_t>(free - peers_.begin());
  if (free == peers_.end()) peers_.emplace_back();
  peers_[index] = {address, 1, key};
  by_name_[key] = index;
  return index;
}

void Peers::forget_one() noexcept {
  const auto unused = std::find_if(peers_.begin(), peers_.end(), [](const Peer& peer) {
    return peer.uses == 0 && !peer.name.empty();
  });
  if (unused == peers_.end()) return;
  fi_av_remove(table_, &unused->address, 1, 0);
  by_name_.erase(unused->name);
  *unused = {};
  --unused_;
}

void Peers::leave(std::uint32_t peer) noexcept {
  Peer& left = peers_[peer];
  LIVEBTL_ASSERT(left.uses > 0, "a peer is left once for each use");
  if (--left.uses == 0) ++unused_;
}

}  // namespace livebtl::ofi
