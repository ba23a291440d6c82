// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/lane/match_kit.h -- receives and messages for the tests of the matcher.
#pragma once

#include <memory>

#include "core/lane/match.h"

namespace livebtl {
struct Peer {
  int number;
};
}  // namespace livebtl

namespace livebtl::core::test {

inline Peer g_peers[3];

struct Wish {
  MessageKind kind = MessageKind::kTagged;
  Tag tag = 0;
  Tag ignore = 0;
  Destination from{};
};

inline ReceiveState& fill(Operation& operation, const Wish& wish) {
  ReceiveState& state = start_state<ReceiveState>(operation);
  state.kind = wish.kind;
  state.tag = wish.tag;
  state.ignore = wish.ignore;
  state.from = wish.from;
  return state;
}

inline Envelope envelope(MessageKind kind, Tag tag, Destination source, std::uint64_t length = 0) {
  Envelope made;
  made.kind = kind;
  made.tag = tag;
  made.source = source;
  made.length = length;
  return made;
}

inline std::unique_ptr<Unexpected> unexpected(const Envelope& made) {
  auto message = std::make_unique<Unexpected>();
  message->envelope = made;
  return message;
}

}  // namespace livebtl::core::test
