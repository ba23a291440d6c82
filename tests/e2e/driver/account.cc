// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/driver/account.cc -- compares the pairs' counts before and after a switch.
#include "tests/e2e/driver/account.h"

#include <algorithm>
#include <cmath>

namespace livebtl::e2e {
namespace {

std::uint64_t frames_on(const PairCounts& counts, const std::string& transport) {
  const auto found = counts.frames.find(transport);
  return found == counts.frames.end() ? 0 : found->second;
}

PairCounts find_or_zero(const Counts& counts, const PairName& pair) {
  const auto found = counts.find(pair);
  return found == counts.end() ? PairCounts{} : found->second;
}

bool moved_on(const PairCounts& before, const PairCounts& now, const std::string& transport) {
  return now.messages > before.messages && frames_on(now, transport) > frames_on(before, transport);
}

}  // namespace

Counts counts_of(const std::vector<core::EngineStatus>& engines) {
  Counts counts;
  for (const core::EngineStatus& engine : engines) {
    for (const core::PeerStatus& peer : engine.peers) {
      if (peer.lost || peer.process == engine.process) continue;
      counts[{engine.process, peer.process}] = {peer.messages_sent, peer.frames_sent};
    }
  }
  return counts;
}

void SwitchAccount::before_switch(const Counts& counts, const std::string& from) {
  active_.clear();
  from_ = from;
  for (const auto& [pair, now] : counts) {
    if (moved_on(find_or_zero(at_last_, pair), now, from)) active_.push_back(pair);
  }
}

void SwitchAccount::after_switch(const Counts& counts, const std::string& to) {
  after_ = counts;
  at_last_ = counts;
  to_ = to;
}

std::vector<PairName> SwitchAccount::outstanding(const Counts& now) const {
  std::vector<PairName> waiting;
  for (const PairName& pair : active_) {
    const auto found = now.find(pair);
    if (found == now.end()) continue;  // it has left
    if (!moved_on(find_or_zero(after_, pair), found->second, to_)) waiting.push_back(pair);
  }
  return waiting;
}

std::vector<PairName> SwitchAccount::stayed(const Counts& now) const {
  std::vector<PairName> found;
  for (const PairName& pair : active_) {
    if (frames_on(find_or_zero(now, pair), from_) >
        frames_on(find_or_zero(after_, pair), from_) + handshake_frames_)
      found.push_back(pair);
  }
  return found;
}

double percentile(std::vector<double> values, double percent) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  const double rank = std::ceil(percent / 100.0 * count);
  const auto index = static_cast<std::size_t>(std::clamp(rank, 1.0, count)) - 1;
  return values[index];
}

}  // namespace livebtl::e2e
