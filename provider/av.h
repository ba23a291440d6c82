// SPDX-License-Identifier: BSD-3-Clause
// provider/av.h -- fi_av: maps fi_addr_t, which is an index for both kinds of vector, to a peer's
// port. Lookups are lock-free and may run concurrently with an insertion.
#pragma once

#include <rdma/fi_domain.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "provider/domain.h"

namespace livebtl::fi {

class EventQueue;

class AddressVector final : public Object<AddressVector, fid_av> {
 public:
  AddressVector(Domain& domain, bool tells, void* context) noexcept;
  ~AddressVector();

  /// The port behind an address, or null.
  const Destination* find(fi_addr_t address) const noexcept {
    if (address >= kChunk * kChunks) [[unlikely]]
      return nullptr;
    const Destination* const chunk = chunks_[address / kChunk].load(std::memory_order_acquire);
    if (!chunk) [[unlikely]]
      return nullptr;
    const Destination* const found = chunk + address % kChunk;
    return found->peer ? found : nullptr;
  }
  /// The address under which a port was inserted, or FI_ADDR_NOTAVAIL.
  fi_addr_t find_reverse(const Destination& destination) noexcept;

  /// Returns 0 and sets `address`, or returns a negative error.
  int insert(const Address& raw, fi_addr_t& address);
  int remove(fi_addr_t address) noexcept;

  void bind(EventQueue& events) noexcept;
  EventQueue* bound() noexcept { return events_; }
  /// Insertion is asynchronous: the event queue reports its end.
  bool tells() const noexcept { return tells_; }
  Domain& domain() noexcept { return domain_; }

 private:
  static constexpr std::size_t kChunk = 1024;
  static constexpr std::size_t kChunks = 4096;

  Domain& domain_;
  const bool tells_;
  std::array<std::atomic<Destination*>, kChunks> chunks_{};
  std::mutex lock_;  // guards what follows, except events_
  std::vector<std::unique_ptr<Destination[]>> owned_;
  std::vector<fi_addr_t> free_;  // a heap, the lowest first: the next to be used
  fi_addr_t next_ = 0;
  // A port that was inserted twice has two entries.
  std::multimap<std::pair<Peer*, PortNumber>, fi_addr_t> reverse_;
  EventQueue* events_ = nullptr;
};

}  // namespace livebtl::fi
