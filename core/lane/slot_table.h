// SPDX-License-Identifier: BSD-3-Clause
// core/lane/slot_table.h -- objects with names that a peer may hold: (32-bit reuse count, 32-bit slot).
// A name is never given out twice, so a late frame that carries an old one finds nothing. Allocates
// only when it grows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace livebtl::core {

template <class T>
class SlotTable {
 public:
  /// A default-constructed object. The reference stays valid until release().
  T& acquire(std::uint64_t& name) {
    std::uint32_t index = 0;
    if (free_.empty()) {
      index = static_cast<std::uint32_t>(slots_.size());
      slots_.emplace_back();
    } else {
      index = free_.back();
      free_.pop_back();
    }
    Slot& slot = slots_[index];
    slot.used = true;
    slot.object = T{};
    name = (static_cast<std::uint64_t>(slot.reuse) << 32U) | (index + 1U);
    return slot.object;
  }
  /// name: may be hostile. nullptr: no object has that name (any more).
  const T* find(std::uint64_t name) const noexcept {
    const auto index = static_cast<std::uint32_t>(name) - 1U;
    if (index >= slots_.size()) return nullptr;
    const Slot& slot = slots_[index];
    if (!slot.used || slot.reuse != static_cast<std::uint32_t>(name >> 32U)) return nullptr;
    return &slot.object;
  }
  T* find(std::uint64_t name) noexcept { return const_cast<T*>(std::as_const(*this).find(name)); }
  void release(std::uint64_t name) noexcept {
    const auto index = static_cast<std::uint32_t>(name) - 1U;
    Slot& slot = slots_[index];
    slot.used = false;
    // A slot whose count is exhausted is retired rather than wrapped.
    if (++slot.reuse != 0) free_.push_back(index);
  }
  template <class Visit>
  void for_each(Visit visit) {
    for (std::size_t index = 0; index < slots_.size(); ++index) {
      if (slots_[index].used)
        visit((static_cast<std::uint64_t>(slots_[index].reuse) << 32U) | (index + 1U),
              slots_[index].object);
    }
  }
  /// Visits those in use among the first `most` slots.
  template <class Visit>
  void for_each_in(std::size_t most, Visit visit) const {
    for (std::size_t index = 0; index < std::min(most, slots_.size()); ++index) {
      if (slots_[index].used) visit(slots_[index].object);
    }
  }

 private:
  struct Slot {
    T object{};
    std::uint32_t reuse = 0;
    bool used = false;
  };
  std::deque<Slot> slots_;  // a deque: references survive growth
  std::vector<std::uint32_t> free_;
};

}  // namespace livebtl::core
