// SPDX-License-Identifier: BSD-3-Clause
// provider/av.h -- fi_av: maps fi_addr_t, which is an index for both kinds of vector, to a peer's
// port. Looking up is lock-free and may run beside an insertion.
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

  /// 0 or a negative error; `address` is then set.
  int insert(const Address& raw, fi_addr_t& address);
  int remove(fi_addr_t address) noexcept;

  void bind(EventQueue& events) noexcept;
  EventQueue* bound() noexcept { return events_; }
  /// Insertion is asynchronous: its end is told by the event queue.
  bool tells() const noexcept { return tells_; }
  Domain& domain() noexcept { return domain_; }

 private:
  static constexpr std::size_t kChunk = 1024;
  static constexpr std::size_t kChunks = 4096;

  Domain& domain_;
  const bool tells_;
  std::array<std::atomic<Destination*>, kChunks> chunks_{};
  std::mutex lock_;  // everything below
  std::vector<std::unique_ptr<Destination[]>> owned_;
  std::vector<fi_addr_t> free_;  // a heap, the lowest first: what is inserted next has that address
  fi_addr_t next_ = 0;
  // An address that was inserted twice stands there twice.
  std::multimap<std::pair<Peer*, PortNumber>, fi_addr_t> reverse_;
  EventQueue* events_ = nullptr;
};

}  // namespace livebtl::fi
