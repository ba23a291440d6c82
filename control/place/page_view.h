// SPDX-License-Identifier: BSD-3-Clause
// control/place/page_view.h -- what a member's page says, as values: read from its file
// (page_reader.h), or sent by a member of another node (control/wire/messages.h). Pure data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/ladder/history.h"

namespace livebtl::control {

struct PairView {
  ProcessId process{};
  std::string name;                // "rank 3 on node17"; "": not known
  std::string sending, receiving;  // transports of the ordered lane; "": none
  std::vector<std::string> bulk;   // of the placed lane
  std::uint64_t messages_sent = 0, messages_received = 0, bytes_sent = 0, bytes_received = 0;
  std::uint64_t kept_bytes = 0;  // not acknowledged
  std::uint32_t queued = 0;      // frames that cannot be sent yet; 1000: or more
  bool out_of_credit = false;    // ... until the peer receives
  std::uint32_t awaited = 0;     // receives that only this peer can satisfy
  std::uint32_t untaken = 0;     // sends that the peer knows of, but no receive there has taken
  bool lost = false;
};

struct LossView {
  std::uint64_t unix_ms = 0;
  ProcessId process{};
  std::string transport;  // "": the peer itself
  std::string why;
};

struct PageView : Described {
  std::string job;
  std::uint32_t pid = 0;
  std::uint64_t unix_ms = 0;  // when its counters were copied
  Term term;
  std::uint64_t seq = 0, operation = 0;
  std::uint32_t epoch = 0;
  Rung rung = Rung::kOld;
  bool reached = true, undoing = false, joining = false, busy = false, left_open = false;
  std::string doing, refusal, waiting, routing;
  core::HoldReport hold;
  std::vector<core::TransportStatus> transports;
  std::vector<PairView> pairs;
  std::uint32_t pairs_total = 0;
  std::uint32_t awaited_from_any = 0;
  std::vector<LossView> losses;
  std::uint64_t losses_total = 0;
  std::uint64_t messages_sent = 0, messages_received = 0;
  std::uint64_t retransmitted_frames = 0, duplicate_frames = 0, reordered_frames = 0;
  std::vector<SwitchRecord> switches;
};

}  // namespace livebtl::control
