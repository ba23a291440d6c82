// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/driver/account.h -- the rule by which a switch counts. Pure.
//
// A switch to T counts once every pair that was active on the transport left, in the time before
// the switch, has sent a message and a frame on T since the switch ended. Pairs that vanish (a
// spawned process left) are exempt. A frame of such a pair on the transport left, after the switch
// ended, proves that the switch did not do what it said. If connections are cut meanwhile, that
// transport is dialled again: then a few frames are those of handshakes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/admin.h"

namespace livebtl::e2e {

/// What one process sent to one peer so far.
struct PairCounts {
  std::uint64_t messages = 0;
  std::map<std::string, std::uint64_t> frames;  // by transport
};
using PairName = std::pair<ProcessId, ProcessId>;  // sender, peer
using Counts = std::map<PairName, PairCounts>;

/// All pairs in the engines' answers, except lost ones and those with oneself.
Counts counts_of(const std::vector<core::EngineStatus>& engines);

class SwitchAccount {
 public:
  /// handshake_frames: this many frames on the transport left, after a switch, prove nothing.
  explicit SwitchAccount(std::uint64_t handshake_frames = 0)
      : handshake_frames_(handshake_frames) {}
  /// Takes the job's counts before the next switch is ordered. from: the transport it will leave.
  void before_switch(const Counts& counts, const std::string& from);
  /// Takes the job's counts when the switch has ended.
  void after_switch(const Counts& counts, const std::string& to);
  /// Pairs that still have to show traffic on the new transport; empty: the switch counts.
  std::vector<PairName> outstanding(const Counts& now) const;
  /// Pairs that went on sending on the transport that they should have left: must be empty.
  std::vector<PairName> stayed(const Counts& now) const;
  const std::string& from() const noexcept { return from_; }
  std::size_t active_pairs() const noexcept { return active_.size(); }

 private:
  std::uint64_t handshake_frames_;
  Counts at_last_;  // when the last switch had ended
  Counts after_;
  std::string from_, to_;
  std::vector<PairName> active_;  // sent on `from` between the last switch and this one
};

/// The value below which `percent` of the values lie (nearest rank). Requires: values not empty.
double percentile(std::vector<double> values, double percent);

}  // namespace livebtl::e2e
