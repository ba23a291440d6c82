// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/steps.cc -- see steps.h.
#include "hypervisor/plan/steps.h"

#include "hypervisor/qmp/guest_holders.h"

namespace livebtl::hypervisor {

Steps::Steps(TimeNs timeout, const std::atomic<bool>& stop, Progress progress)
    : progress_(std::move(progress)), budget_(monotonic_now(), timeout), stop_(stop) {}

Deadline Steps::forward() const { return {budget_.there(), &stop_}; }
Deadline Steps::uninterrupted() const { return {budget_.there(), nullptr}; }
Deadline Steps::plugging() {
  return Deadline{budget_.afterwards(monotonic_now()), nullptr}.at_most(kPlugMax);
}
Deadline Steps::afterwards() { return plugging().at_most(kAfterwards); }
Deadline Steps::diagnosis() const { return {budget_.diagnosis(monotonic_now()), nullptr}; }

Tries Steps::tries(GuestOrder order) {
  if (order == GuestOrder::kPrepare) return tries_until(budget_.there(), false);
  return tries_until(budget_.afterwards(monotonic_now()), plugged_in_);
}

Answer Steps::on(Monitor& monitor, const Monitor::Act& act, const Deadline& deadline) {
  return answer_of(monitor.run(act, deadline));
}

Answer Steps::unplug(Monitor& monitor, const Card& card, GuestAgent* agent) {
  const auto pull = [&card](Qmp& qmp, const Deadline& deadline) {
    return pull_card(qmp, card, deadline);
  };
  Answer answer = on(monitor, pull, uninterrupted().at_most(kUnplugMax));
  if (answer.outcome == Outcome::kTimeout && agent != nullptr)
    answer.text += holders_text(*agent, diagnosis());
  return answer;
}

Answer Steps::plug(Monitor& monitor, const Card& card) {
  const auto act = [&](Qmp& qmp, const Deadline&) { return plug_card(qmp, card, plugging()); };
  Answer answer = on(monitor, act, afterwards());
  plugged_in_ = plugged_in_ || answer.ok();
  return answer;
}

Answer Steps::plug_again(Monitor& monitor, const Card& card) {
  const auto act = [&](Qmp& qmp, const Deadline&) {
    auto plugged = plug_card_again(qmp, card, plugging());
    plugged_in_ = plugged_in_ || plugged;
    return plugged ? forget_card(qmp, card.id, afterwards()) : plugged;
  };
  return on(monitor, act, afterwards());
}

}  // namespace livebtl::hypervisor
