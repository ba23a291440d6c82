// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/driver/account.h -- when does a switch count? Pure.
//
// A switch to T counts once every pair that was active on the transport left, in the time before
// the switch, has sent a message and a frame on T after the switch had ended. Pairs that vanish (a
// spawned process left) are let off. A frame of such a pair on the transport left, after the switch
// had ended, proves that the switch did not do what it said. Where connections are cut meanwhile the
// transport left is dialled again: a few frames are then those of handshakes.
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

/// All pairs of the engines' answers, but for those that are lost or with oneself.
Counts counts_of(const std::vector<core::EngineStatus>& engines);

class SwitchAccount {
 public:
  /// handshake_frames: so many on the transport left, after a switch, prove nothing.
  explicit SwitchAccount(std::uint64_t handshake_frames = 0)
      : handshake_frames_(handshake_frames) {}
  /// The job before the switch that is ordered next. from: the transport it will leave.
  void before_switch(const Counts& counts, const std::string& from);
  /// The job when the switch had ended.
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
