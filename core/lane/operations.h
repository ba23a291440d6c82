// SPDX-License-Identifier: BSD-3-Clause
// core/lane/operations.h -- what the engine keeps in Operation::engine_state while an operation is open:
// no allocation.
#pragma once

#include <new>

#include "base/assert.h"
#include "livebtl/port.h"

namespace livebtl::core {

/// A receive, from post to completion.
struct ReceiveState {
  Operation* previous = nullptr;  // in the matcher's list of posted receives
  Operation* next = nullptr;
  bool posted = false;  // in that list now
  MessageKind kind = MessageKind::kTagged;
  std::uint8_t slice_count = 0;
  Tag tag = 0;
  Tag ignore = 0;
  Destination from{};  // peer null: anybody
  MutableSlice slices[kSlicesMax];
  std::size_t capacity = 0;  // bytes of all slices; multi-receive: what is left
  std::size_t multi_bytes_min = 0;
  std::size_t multi_used = 0;  // multi-receive: bytes handed out from the front of slices[0]
  bool reposting = false;  // multi-receive: taken off the list only while a message is handed to it
  std::uint32_t multi_open = 0;  // multi-receive: messages still arriving into it
};
static_assert(sizeof(ReceiveState) <= sizeof(Operation::engine_state));

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

}  // namespace livebtl::core
