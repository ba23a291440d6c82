// SPDX-License-Identifier: BSD-3-Clause
// core/lane/region_table.h -- registered memory by key, and the check that every remote access passes.
// Pure.
//
// A made key is a name in a SlotTable, never handed out twice, so a stale key never means new
// memory. A wished key is the user's 64 bits (libfabric without FI_MR_PROV_KEY), and what a stale
// one means is up to the user; it must not be in use in its space. A space has keys of one sort,
// else a stale key of one could become a key of the other.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "core/lane/slot_table.h"
#include "livebtl/port.h"

namespace livebtl::core {

class RegionTable {
 public:
  /// Errors: kInvalid (key in use, the space's keys are of the other sort, base + bytes overflows).
  Result<std::uint64_t> add(std::uint32_t space, const RegionRequest& request);
  /// Errors: kBadKey.
  Status remove(std::uint32_t space, std::uint64_t key);
  /// The memory at [address, address + length) of a region, if the key is known in that space,
  /// grants the rights, and the range lies inside (no overflow; length 0: address may be the end).
  /// nullptr: refused. A region of 0 bytes yields a pointer too, which must not be dereferenced.
  std::byte* check(std::uint32_t space, std::uint64_t key, std::uint64_t address,
                   std::uint64_t length, Access wanted) const noexcept;
  std::size_t count() const noexcept { return count_; }

 private:
  struct Region {
    std::byte* base = nullptr;
    std::uint64_t first = 0;  // the address of base[0] as peers see it
    std::uint64_t bytes = 0;
    std::uint32_t space = 0;
    Access access = Access::kReadWrite;
  };
  struct WishedKey {
    std::uint32_t space = 0;
    std::uint64_t key = 0;
    friend bool operator==(const WishedKey&, const WishedKey&) = default;
  };
  struct WishedHash {
    std::size_t operator()(const WishedKey& wished) const noexcept;
  };

  const Region* find_made(std::uint32_t space, std::uint64_t key) const noexcept;
  const Region* find(std::uint32_t space, std::uint64_t key) const noexcept;
  Status check_sort(std::uint32_t space, bool wished);

  SlotTable<Region> made_;
  std::unordered_map<WishedKey, Region, WishedHash> wished_;
  // Per space: are its keys wished? Kept when its last region goes: a stale key of one sort must
  // not become a key of the other. Costs a few bytes per space that there ever was.
  std::unordered_map<std::uint32_t, bool> wishing_;
  std::size_t count_ = 0;
};

}  // namespace livebtl::core
