// SPDX-License-Identifier: BSD-3-Clause
// core/lane/match.h -- which message goes to which receive: one Matcher per port. Pure; under the
// engine's lock.
//
// Rules (MPI's and libfabric's): receives match in the order posted; messages of one source match
// in the order they arrived; a receive without a source takes the earliest arrival of any source.
// Tagged and plain messages never mix. Ownership: posted receives are the caller's Operations;
// unexpected messages are the matcher's.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

#include "base/assert.h"
#include "livebtl/port.h"

namespace livebtl::core {

/// A receive, from post to completion.
struct ReceiveState {
  ReceiveState() noexcept {
  }  // leaves `slices` uninitialized: most receives write only one of several

  Operation* previous = nullptr;  // in the matcher's list of posted receives
  Operation* next = nullptr;
  bool posted = false;  // in that list now
  MessageKind kind = MessageKind::kTagged;
  std::uint8_t slice_count = 0;
  Tag tag = 0;
  Tag ignore = 0;
  Destination from{};  // peer null: anybody
  union {
    MutableSlice slices[kSlicesMax];  // [slice_count]
  };
  std::size_t capacity = 0;  // bytes of all slices; multi-receive: what is left
  std::size_t multi_bytes_min = 0;
  std::size_t multi_used = 0;  // multi-receive: bytes handed out from the front of slices[0]
  bool reposting = false;  // multi-receive: taken off the list only while a message is handed to it
  std::uint32_t multi_open = 0;  // multi-receive: messages still arriving into it
  Errc withdrawn = Errc::kOk;    // multi-receive: how it ends once they have arrived
};
static_assert(sizeof(ReceiveState) <= sizeof(Operation::engine_state));

/// What the engine keeps in Operation::engine_state while an operation is open: no allocation.
template <class State>
State& start_state(Operation& operation) noexcept {
  static_assert(sizeof(State) <= sizeof(Operation::engine_state) &&
                std::is_trivially_destructible_v<State>);
  return *new (operation.engine_state) State{};
}
template <class State>
State& state_of(Operation& operation) noexcept {
  return *std::launder(reinterpret_cast<State*>(operation.engine_state));
}

/// What the header of a message says.
struct Envelope {
  MessageKind kind = MessageKind::kTagged;
  bool has_data = false;
  bool want_done = false;
  bool rendezvous = false;  // only offered: the bytes are to be fetched by `transfer`
  bool ahead = false;       // ... but data follow, unasked
  Tag tag = 0;
  std::uint64_t data = 0;
  std::uint64_t length = 0;  // of the whole message
  std::uint64_t transfer = 0;
  Destination source{};

  /// The completion of a receive that took this many bytes of it.
  Completion completion(std::size_t bytes) const noexcept {
    return {.code = bytes < length ? Errc::kTruncated : Errc::kOk,
            .has_data = has_data,
            .tag = tag,
            .data = data,
            .bytes = bytes,
            .message_bytes = length,
            .source = source};
  }
};

/// A message that came before its receive. payload: its bytes (eager) or empty (rendezvous).
struct Unexpected {
  Unexpected* previous = nullptr;
  Unexpected* next = nullptr;
  Envelope envelope;
  std::unique_ptr<std::byte[]> payload;
  // Credit the sender has back already.
  bool bytes_returned = false;
  bool header_returned = false;

  std::size_t payload_bytes() const noexcept { return envelope.rendezvous ? 0 : envelope.length; }
  bool wants_answer() const noexcept { return envelope.rendezvous || envelope.want_done; }
  /// Memory, as the allocator counts it.
  std::size_t memory_bytes() const noexcept { return kMemoryBytesMin + payload_bytes(); }
  static constexpr std::size_t kMemoryBytesMin = 192;
};
static_assert(sizeof(Unexpected) <= Unexpected::kMemoryBytesMin);

class Matcher {
 public:
  Matcher() = default;
  ~Matcher();  // frees unexpected messages; Requires: no posted receive
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  /// A receive whose ReceiveState is filled in. Returns the unexpected message it takes (removed;
  /// the caller's now), or posts the receive and returns null. A multi-receive that took one is not
  /// posted: the caller uses it, updates capacity and multi_used, and posts it again while
  /// multi_bytes_min is left.
  std::unique_ptr<Unexpected> post(Operation& receive) {
    ReceiveState& state = state_of<ReceiveState>(receive);
    if (unexpected_[lane(state.kind)].first != nullptr) [[unlikely]] {
      if (auto message = take(state)) return message;
    }
    append(receive, state);
    return nullptr;
  }
  /// The same when no message waits at all.
  void post_unmatched(Operation& receive) noexcept {
    append(receive, state_of<ReceiveState>(receive));
  }
  /// A message has arrived. Returns its receive, removed from the list unless it is a multi-receive
  /// that still has multi_bytes_min left after envelope.length bytes. The caller updates capacity
  /// and multi_used *before* the next call. A multi-receive too small for the message (capacity <
  /// length) still matches and truncates, as libfabric's. null: no receive matches; the caller then
  /// adds the message as unexpected.
  Operation* arrived(const Envelope& envelope) noexcept {
    Operation* const first = posted_[lane(envelope.kind)].first;
    if (first == nullptr) return nullptr;
    ReceiveState& state = state_of<ReceiveState>(*first);
    if (!matches(state, envelope)) return arrived_behind(*first, envelope);
    return use(*first, state, envelope);
  }
  Operation* would_take(const Envelope& envelope) const noexcept;  // arrived(), but leaves it there
  void add_unexpected(std::unique_ptr<Unexpected> message) noexcept;
  /// Takes the first posted receive of that kind off the list, if it matches this message and takes
  /// one message into one slice. null: ask arrived().
  Operation* take_first(MessageKind kind, Tag tag, const Destination& source) noexcept {
    List<Operation>& list = posted_[lane(kind)];
    Operation* const first = list.first;
    if (first == nullptr) return nullptr;
    ReceiveState& state = state_of<ReceiveState>(*first);
    const bool plain = state.slice_count == 1 && state.multi_bytes_min == 0;
    if (!plain || !matches(state, tag, source)) return nullptr;
    list.first = state.next;
    (state.next != nullptr ? state_of<ReceiveState>(*state.next).previous : list.last) = nullptr;
    state.posted = false;
    --posted_count_;
    return first;
  }

  /// The earliest unexpected message that a receive like this would take, left in place.
  Unexpected* peek(const ReceiveState& like) const noexcept;
  /// The same, taken out.
  std::unique_ptr<Unexpected> take(const ReceiveState& like) noexcept;
  /// Any unexpected message, taken out (for closing a port); null: none.
  std::unique_ptr<Unexpected> take_any() noexcept;
  /// Withdraws a posted receive. false: it is not posted here.
  bool withdraw(Operation& receive) noexcept;
  /// Any posted receive (for closing a port); null: none.
  Operation* first_posted() const noexcept;
  /// A posted receive that takes messages of this peer only; null: none.
  Operation* first_posted_from(const Peer& peer) const noexcept;
  /// Is there one that takes messages of one peer only?
  bool has_directed() const noexcept;

  /// Visits the first `most` posted receives; returns how many.
  template <class Visit>
  std::size_t for_each_posted(std::size_t most, Visit visit) const {
    std::size_t visited = 0;
    for (const auto& list : posted_) {
      for (Operation* each = list.first; each != nullptr && visited < most; ++visited) {
        const ReceiveState& state = state_of<ReceiveState>(*each);
        visit(state);
        each = state.next;
      }
    }
    return visited;
  }

  template <class Visit>
  void for_each_unexpected(Visit visit) {
    for (auto& list : unexpected_) {
      for (Unexpected* each = list.first; each != nullptr; each = each->next) visit(*each);
    }
  }

  /// In a forked child: another thread may have been changing all this. Nothing is read or freed.
  void forget() noexcept;

  std::size_t posted_count() const noexcept { return posted_count_; }
  std::size_t unexpected_count() const noexcept { return unexpected_count_; }

 private:
  template <class Node>
  struct List {
    Node* first = nullptr;
    Node* last = nullptr;
  };

  template <class Wanted>
  Operation* find_posted(Wanted wanted) const noexcept;

  static std::size_t lane(MessageKind kind) noexcept { return static_cast<std::size_t>(kind); }
  static bool matches(const ReceiveState& receive, Tag tag, const Destination& source) noexcept {
    return ((receive.tag ^ tag) & ~receive.ignore) == 0 &&
           (receive.from.peer == nullptr ||
            (receive.from.peer == source.peer && receive.from.port == source.port));
  }
  static bool matches(const ReceiveState& receive, const Envelope& envelope) noexcept {
    return matches(receive, envelope.tag, envelope.source);
  }
  /// Does a multi-receive stay posted when a message of that length goes into it?
  static bool stays(const ReceiveState& receive, std::uint64_t length) noexcept {
    return receive.multi_bytes_min != 0 && length <= receive.capacity &&
           receive.capacity - length >= receive.multi_bytes_min;
  }
  Operation* use(Operation& receive, ReceiveState& state, const Envelope& envelope) noexcept {
    if (!stays(state, envelope.length)) unlink(state);
    return &receive;
  }
  void append(Operation& receive, ReceiveState& state) noexcept {
    List<Operation>& list = posted_[lane(state.kind)];
    state.previous = list.last;
    state.next = nullptr;
    state.posted = true;
    (list.last != nullptr ? state_of<ReceiveState>(*list.last).next : list.first) = &receive;
    list.last = &receive;
    ++posted_count_;
  }
  void unlink(ReceiveState& state) noexcept {
    List<Operation>& list = posted_[lane(state.kind)];
    (state.previous != nullptr ? state_of<ReceiveState>(*state.previous).next : list.first) =
        state.next;
    (state.next != nullptr ? state_of<ReceiveState>(*state.next).previous : list.last) =
        state.previous;
    state.posted = false;
    --posted_count_;
  }
  std::unique_ptr<Unexpected> take_out(Unexpected& message) noexcept;
  Operation* arrived_behind(Operation& first, const Envelope& envelope) noexcept;

  List<Operation> posted_[2];  // by MessageKind
  List<Unexpected> unexpected_[2];
  std::size_t posted_count_ = 0;
  std::size_t unexpected_count_ = 0;
};

}  // namespace livebtl::core
