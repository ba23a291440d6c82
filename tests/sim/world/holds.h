// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/world/holds.h -- holds of the simulated job for snapshots, and what must be true during
// a hold.
//
// Plays the orchestrator: tells each process separately, late, or never; ends the hold likewise, or
// lets its lease run out. While all say that they are parked, nothing numbered or placed, no marker
// and no answer to one may be in flight between any two of them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/world/sim_process.h"

namespace livebtl::sim {

class Holds {
 public:
  using Processes = std::vector<std::unique_ptr<SimProcess>>;

  Holds(SimNetwork& network, Processes& processes, std::uint64_t seed);

  /// Once per step. calm: begins no more holds.
  void run(bool calm);
  /// Some process posted a frame.
  void posted(Bytes header);
  std::uint64_t begun() const noexcept { return number_; }
  /// How often all were parked.
  std::uint64_t parked() const noexcept { return parked_; }
  /// Holds of single processes that ended with their leases.
  std::uint64_t expired() const noexcept { return expired_; }
  /// How often all went on as if restored from snapshots.
  std::uint64_t restored() const noexcept { return restored_; }
  std::function<void(const std::string&)> on_failure;

 private:
  struct Times {
    TimeNs start = 0;  // kNever: the process is never told
    TimeNs end = 0;
  };

  void begin();
  void tell(SimProcess& process, Times& times);
  void end();
  bool all_parked();
  Incarnation job_incarnation() const;
  Incarnation restored_to() const;
  void restore();

  SimNetwork& network_;
  Processes& processes_;
  Random random_, restores_;
  bool never_ = false;
  std::uint64_t number_ = 0;  // number of the present hold, which is its id
  TimeNs next_at_ = 0;
  TimeNs lease_ = 0;
  TimeNs over_at_ = 0;
  std::map<std::uint64_t, Times> times_;  // by process; empty: no hold under way
  bool whole_ = false;                    // all were parked at the last look
  std::ptrdiff_t alive_ = 0;              // processes alive then
  std::uint64_t posted_ = 0;              // frames since then
  std::string posted_text_;               // ... and the last of them
  std::uint64_t parked_ = 0, expired_ = 0, restored_ = 0;
};

}  // namespace livebtl::sim
