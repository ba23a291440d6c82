// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_steps.cc -- see set_steps.h.
#include "hypervisor/set/set_steps.h"

#include <algorithm>

namespace livebtl::hypervisor {

std::vector<std::string> SetRequest::names() const {
  std::vector<std::string> names;
  for (const MachinePlace& machine : machines) names.push_back(machine.name);
  return names;
}

std::vector<MachineNames> SetRequest::machine_names() const {
  std::vector<MachineNames> names;
  for (const MachinePlace& machine : machines) names.push_back({machine.name, machine.cards});
  return names;
}

std::size_t SetRequest::speaker() const noexcept {
  for (std::size_t i = 0; i < machines.size(); ++i) {
    if (hypervisor->has_agent(machines[i].place)) return i;
  }
  return 0;
}

SetSteps::SetSteps(const SetRequest& request, const std::atomic<bool>& stop, Progress progress)
    : Steps(request.timeout, stop, std::move(progress)),
      request_(request),
      directory_(request.directory, request.names()) {
  for (const MachinePlace& each : request.machines)
    machines_.push_back({request.hypervisor->reach(each.place, nullptr)});
}

Answer SetSteps::perform(Action action) {
  switch (action.step) {
    case Step::kLook:
      return look();
    case Step::kPlug:
      return plug_in(*machines_[action.machine].vm, machines_[action.machine].cards[action.card]);
    case Step::kReturn:
      return order(GuestOrder::kReturn);
    default:
      return perform_own(action);
  }
}

Answer SetSteps::look_at_each() {
  const Deadline deadline = forward().at_most(kLookMax);
  Answer all;
  all.seen.resize(machines_.size());
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    Answer one = look_at(i, all.seen[i], deadline);
    if (one.ok()) continue;
    one.text = request_.machines[i].name + ": " + one.text;
    return one;
  }
  return all;
}

Answer SetSteps::read(const Result<GuestAnswer>& said) {
  if (!said) return late_answer_of(said.error());
  if (said->code == kCodeDone) {
    members_ = said->members;
    return {};
  }
  return {Outcome::kFailed, said->code, "in the guest " + speaker_name() + ": " + said->text};
}

Answer SetSteps::give(const Verb& verb, TimeNs limit, TimeNs end) {
  Tries tries = tries_until(limit, false);
  tries.end = std::min(tries.end, end);
  return read(give_verb(agent(), request_.guest, verb, tries));
}

Answer SetSteps::order(GuestOrder order) {
  return read(give_order(agent(), request_.guest, order, "", tries(order)));
}

}  // namespace livebtl::hypervisor
