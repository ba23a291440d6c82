// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/network/faults.cc -- names of the faults, and the draw of a plan.
#include "tests/sim/network/faults.h"

namespace livebtl::sim {

const char* fault_name(Fault fault) noexcept {
  static constexpr const char* kNames[kFaultKinds] = {
      "stall",        "drop",         "duplicate",       "reorder",    "corrupt",
      "torn",         "sever",        "one-sided-sever", "outage",     "refuse",
      "retry",        "partial",      "freeze",          "clock-jump", "coordinator-crash",
      "member-crash", "open-refused", "control-loss",    "leave",      "stop",
      "slow",         "read-again"};
  return kNames[static_cast<std::size_t>(fault)];
}

std::string FaultCounts::to_text() const {
  std::string text;
  for (std::size_t i = 0; i < kFaultKinds; ++i) {
    if (i != 0) text += ' ';
    text += fault_name(static_cast<Fault>(i));
    text += '=' + std::to_string(counts_[i]);
  }
  return text;
}

FaultPlan FaultPlan::from_seed(std::uint64_t seed) noexcept {
  Random random(seed ^ 0xFA17'5EED);
  // Of each fault a third of the runs knows nothing, a third little, a third much.
  const auto draw = [&random](double much) {
    const std::uint64_t third = random.below(3);
    return third == 0 ? 0.0 : third == 1 ? much / 8 : much;
  };
  FaultPlan plan;
  plan.stall = draw(0.02);
  plan.corrupt = draw(0.004);
  plan.torn = draw(0.002);
  plan.retry = draw(0.2);
  plan.partial = draw(0.3);
  plan.refuse = draw(0.3);
  plan.sever = draw(0.003);
  plan.outage = draw(0.0005);
  plan.freeze = draw(0.0005);
  plan.clock_jump = draw(0.0005);
  plan.open_refused = draw(0.3);
  plan.control_loss = draw(0.2);
  plan.coordinator_crash = draw(0.02);
  plan.member_crash = draw(0.00002);
  plan.leave = draw(0.9);
  plan.stop = draw(0.9);
  plan.slow = draw(0.9);
  plan.read_again = draw(0.3);
  return plan;
}

}  // namespace livebtl::sim
