// SPDX-License-Identifier: BSD-3-Clause
// control/agent/search_plan.cc -- see search_plan.h.
#include "control/agent/search_plan.h"

#include <algorithm>

namespace livebtl::control {

std::vector<ProcessId> SearchPlan::due(const std::vector<ProcessId>& sought, TimeNs now) {
  std::vector<ProcessId> asked;
  if (now < due_at_ || sought.empty()) return asked;
  const std::size_t count = std::min(kAtOnce, sought.size());
  auto next = std::upper_bound(sought.begin(), sought.end(), last_);
  round_ended_ = false;
  while (asked.size() < count) {
    if (next == sought.end()) next = sought.begin();
    asked.push_back(*next++);
    round_ended_ = round_ended_ || next == sought.end();
  }
  last_ = asked.back();
  if (round_ended_) pause_ = std::clamp(2 * pause_, kPauseLeast, kPauseMost);
  due_at_ = now + std::max(pause_, kPauseLeast);
  return asked;
}

}  // namespace livebtl::control
