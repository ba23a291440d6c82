// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/rates.h -- what has moved between two looks at a job's pages, by transport and by pair; and who waits for whom.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "ctl-tool/pages.h"

namespace livebtl::tool {

/// Each per second, as the processes counted; 0 if a process has copied nothing between the looks.
struct Rate {
  double bytes_sent = 0, bytes_received = 0, messages_sent = 0, messages_received = 0;
};

struct TransportRate {
  std::string name, state;  // "open", "removed", ...
  std::uint32_t pairs = 0;  // each counted once
  std::uint32_t bulk_pairs = 0;
  Rate rate;  // its messages are 0: they are counted by pair
  double frames_sent = 0;
  std::uint64_t paths_lost = 0;
};

struct PairRate {
  std::string process, peer;
  std::string sending;  // "": not connected
  std::vector<std::string> bulk;
  Rate rate;
  std::string waits;      // "3 receives from it; 12 frames to it queued"; "": for nothing
  control::PairView now;  // what waits, in numbers
  bool lost = false;
};

struct LossSeen {
  std::uint64_t unix_ms = 0;
  std::string process, peer, transport, why;
};

struct JobRates {
  std::vector<TransportRate> transports;
  std::vector<PairRate> pairs;   // the busiest first, then those that wait
  std::vector<LossSeen> losses;  // the newest first
  std::uint64_t losses_total = 0;
  std::vector<std::string> busy;  // not at rest: "rank 3: switch sm tcp, newtx, waits for ..."
};

JobRates rates_between(const Pages& before, const Pages& now);

}  // namespace livebtl::tool
