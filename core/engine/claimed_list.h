// SPDX-License-Identifier: BSD-3-Clause
// core/engine/claimed_list.h -- the messages that a port's user has claimed (Port::peek) and has
// neither received nor discarded yet: the port ends them when it closes.
//
// Threads: under the engine's lock. Ownership: the list owns its messages.
#pragma once

#include <memory>

#include "base/assert.h"
#include "core/lane/match.h"

namespace livebtl::core {

/// Linked by Unexpected::previous and next.
class ClaimedList {
 public:
  ClaimedList() = default;
  ~ClaimedList() { LIVEBTL_ASSERT(first_ == nullptr, "a port ends what was set aside"); }
  ClaimedList(const ClaimedList&) = delete;
  ClaimedList& operator=(const ClaimedList&) = delete;

  ClaimedMessage* add(std::unique_ptr<Unexpected> message) noexcept {
    Unexpected* const added = message.release();
    added->previous = nullptr;
    added->next = first_;
    if (first_ != nullptr) first_->previous = added;
    first_ = added;
    return reinterpret_cast<ClaimedMessage*>(added);
  }
  /// Requires: `claim` came from add(), and was not taken since.
  std::unique_ptr<Unexpected> take(ClaimedMessage* claim) noexcept {
    return take_out(*reinterpret_cast<Unexpected*>(claim));
  }
  /// Null: the list is empty.
  std::unique_ptr<Unexpected> take_any() noexcept {
    return first_ == nullptr ? nullptr : take_out(*first_);
  }
  /// In a forked child: see Matcher::forget().
  void forget() noexcept { first_ = nullptr; }

 private:
  std::unique_ptr<Unexpected> take_out(Unexpected& message) noexcept {
    (message.previous != nullptr ? message.previous->next : first_) = message.next;
    if (message.next != nullptr) message.next->previous = message.previous;
    message.previous = message.next = nullptr;
    return std::unique_ptr<Unexpected>(&message);
  }

  Unexpected* first_ = nullptr;
};

}  // namespace livebtl::core
