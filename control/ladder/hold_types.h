// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/hold_types.h -- what a member is told and answers about a HOLD (core/switch/hold.h). Pure data.
#pragma once

#include <string>
#include <vector>

#include "control/ladder/ladder_types.h"
#include "core/engine/admin.h"

namespace livebtl::control {

enum class HoldAction : std::uint8_t { kAsk, kStart, kEnd, kClaim, kRestore };

/// "How do you stand?", "park, for this long", "send again", "let nobody end this: you are about to
/// be restored", "you were restored from this hold's snapshots". All get the same kind of answer.
struct HoldRequest {
  std::string job;
  HoldAction action = HoldAction::kAsk;
  std::uint64_t id = 0;        // of the hold; 0 only with kAsk
  std::uint32_t lease_ms = 0;  // kStart, kClaim; renews the lease if this hold is in force
  std::uint32_t members = 0;   // kStart: if not 0, all of this many are parked
  std::uint64_t number = 0;    // of the question, for the answer
  // kRestore: the one to be raised to; kStart: the highest that is known in the job
  Incarnation incarnation{};
  std::uint64_t claim = 0;  // kClaim, kRestore: core::HoldClaim::number
  // kRestore: where relays of other nodes listen, as route.h writes it, if their addresses have
  // changed: such a node's members cannot tell while they are held, nor be reached afterwards.
  std::vector<std::string> relays = {};
};
inline constexpr std::size_t kHoldRelaysMax = 1024;
// All of them together; a message takes 64 KiB.
inline constexpr std::size_t kHoldRelayBytesMax = std::size_t{48} << 10;

struct HoldAnswer {
  MemberId member;
  std::string name;  // for people
  int rank = -1;
  std::uint32_t announced = 0;  // members that the launcher announced
  std::uint64_t number = 0;     // of the question
  core::HoldReport report;
};
/// An answer to an older question is void.
inline std::uint64_t answer_number(const HoldAnswer& answer) noexcept { return answer.number; }

/// "none", "parking", "parked", "broken", "fenced".
constexpr const char* hold_state_name(core::HoldState state) noexcept {
  constexpr const char* kNames[] = {"none", "parking", "parked", "broken", "fenced"};
  return kNames[static_cast<std::size_t>(state)];
}
/// "ask", "start", "end", "claim", "restore".
constexpr const char* hold_action_name(HoldAction action) noexcept {
  constexpr const char* kNames[] = {"ask", "start", "end", "claim", "restore"};
  return kNames[static_cast<std::size_t>(action)];
}

/// The longest lease: a job must not be held for ever.
inline constexpr std::uint32_t kHoldLeaseMaxMs = 24U * 3600U * 1000U;

}  // namespace livebtl::control
