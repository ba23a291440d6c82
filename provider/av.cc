// SPDX-License-Identifier: BSD-3-Clause
// provider/av.cc -- see av.h.
#include "provider/av.h"

#include "provider/eq.h"
#include "provider/provider.h"
#include "provider/service.h"

namespace livebtl::fi {

AddressVector::~AddressVector() {
  if (events_) events_->drop();
}

void AddressVector::bind(EventQueue& events) noexcept {
  events.keep();
  events_ = &events;
}

int AddressVector::insert(const Address& raw, fi_addr_t& address) {
  Result<Address> wanted = is_service_address(raw) ? resolve_service(raw) : raw;
  if (!wanted) return -FI_ENODATA;
  const Result<Destination> destination = domain_.engine().peer(*wanted);
  if (!destination) return -errno_of(destination.error().code);

  const std::lock_guard hold(lock_);
  if (free_.empty() && next_ % kChunk == 0) {
    if (next_ / kChunk == kChunks) return -FI_ENOMEM;
    owned_.push_back(std::make_unique<Destination[]>(kChunk));
  }
  address = free_.empty() ? next_ : free_.back();
  owned_[address / kChunk][address % kChunk] = *destination;
  reverse_.emplace(std::pair{destination->peer, destination->port}, address);
  if (!free_.empty()) {
    free_.pop_back();
    return 0;
  }
  if (next_ % kChunk == 0) {
    chunks_[next_ / kChunk].store(owned_.back().get(), std::memory_order_release);
  }
  ++next_;
  return 0;
}

int AddressVector::remove(fi_addr_t address) noexcept {
  const std::lock_guard hold(lock_);
  const Destination* const found = find(address);
  if (!found) return -FI_EINVAL;
  const auto reverse = reverse_.find({found->peer, found->port});
  if (reverse != reverse_.end() && reverse->second == address) reverse_.erase(reverse);
  owned_[address / kChunk][address % kChunk] = {};
  return guarded([&] {
    free_.push_back(address);
    return 0;
  });
}

fi_addr_t AddressVector::find_reverse(const Destination& destination) noexcept {
  const std::lock_guard hold(lock_);
  const auto found = reverse_.find({destination.peer, destination.port});
  return found == reverse_.end() ? FI_ADDR_NOTAVAIL : found->second;
}

}  // namespace livebtl::fi
