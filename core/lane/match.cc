// SPDX-License-Identifier: BSD-3-Clause
// core/lane/match.cc -- the walks over the lists of one port's matcher; the heads of the lists are
// handled in the header. Pure; runs under the engine's lock.
#include "core/lane/match.h"

#include "base/assert.h"

namespace livebtl::core {

Matcher::~Matcher() {
  LIVEBTL_ASSERT(posted_count_ == 0, "a port cancels its receives before it closes");
  for (const List<Unexpected>& list : unexpected_) {
    for (Unexpected* message = list.first; message != nullptr;) {
      const std::unique_ptr<Unexpected> owned(message);
      message = owned->next;
    }
  }
}

void Matcher::forget() noexcept {
  for (auto& list : posted_) list = {};
  for (auto& list : unexpected_) list = {};
  posted_count_ = unexpected_count_ = 0;
}

Operation* Matcher::arrived_behind(Operation& first, const Envelope& envelope) noexcept {
  Operation* receive = state_of<ReceiveState>(first).next;
  while (receive != nullptr) {
    ReceiveState& state = state_of<ReceiveState>(*receive);
    if (matches(state, envelope)) return use(*receive, state, envelope);
    receive = state.next;
  }
  return nullptr;
}

Operation* Matcher::would_take(const Envelope& envelope) const noexcept {
  Operation* receive = posted_[lane(envelope.kind)].first;
  while (receive != nullptr && !matches(state_of<ReceiveState>(*receive), envelope))
    receive = state_of<ReceiveState>(*receive).next;
  return receive;
}

void Matcher::add_unexpected(std::unique_ptr<Unexpected> message) noexcept {
  List<Unexpected>& list = unexpected_[lane(message->envelope.kind)];
  message->previous = list.last;
  message->next = nullptr;
  ++unexpected_count_;
  Unexpected* const owned = message.release();
  (list.last != nullptr ? list.last->next : list.first) = owned;
  list.last = owned;
}

Unexpected* Matcher::peek(const ReceiveState& like) const noexcept {
  Unexpected* message = unexpected_[lane(like.kind)].first;
  while (message != nullptr && !matches(like, message->envelope)) message = message->next;
  return message;
}

std::unique_ptr<Unexpected> Matcher::take(const ReceiveState& like) noexcept {
  Unexpected* const message = peek(like);
  return message == nullptr ? nullptr : take_out(*message);
}

std::unique_ptr<Unexpected> Matcher::take_any() noexcept {
  for (const List<Unexpected>& list : unexpected_) {
    if (list.first != nullptr) return take_out(*list.first);
  }
  return nullptr;
}

std::unique_ptr<Unexpected> Matcher::take_out(Unexpected& message) noexcept {
  List<Unexpected>& list = unexpected_[lane(message.envelope.kind)];
  (message.previous != nullptr ? message.previous->next : list.first) = message.next;
  (message.next != nullptr ? message.next->previous : list.last) = message.previous;
  message.previous = message.next = nullptr;
  --unexpected_count_;
  return std::unique_ptr<Unexpected>(&message);
}

bool Matcher::withdraw(Operation& receive) noexcept {
  for (const List<Operation>& list : posted_) {
    for (Operation* one = list.first; one != nullptr; one = state_of<ReceiveState>(*one).next) {
      if (one != &receive) continue;
      unlink(state_of<ReceiveState>(receive));
      return true;
    }
  }
  return false;
}

Operation* Matcher::first_posted() const noexcept {
  return posted_[0].first != nullptr ? posted_[0].first : posted_[1].first;
}

template <class Wanted>
Operation* Matcher::find_posted(Wanted wanted) const noexcept {
  for (const auto& list : posted_) {
    for (Operation* each = list.first; each != nullptr; each = state_of<ReceiveState>(*each).next) {
      if (wanted(state_of<ReceiveState>(*each))) return each;
    }
  }
  return nullptr;
}

Operation* Matcher::first_posted_from(const Peer& peer) const noexcept {
  return find_posted([&](const ReceiveState& state) { return state.from.peer == &peer; });
}

bool Matcher::has_directed() const noexcept {
  const auto directed = [](const ReceiveState& state) { return state.from.peer != nullptr; };
  return find_posted(directed) != nullptr;
}

}  // namespace livebtl::core
