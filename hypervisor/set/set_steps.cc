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

std::size_t SetRequest::speaker() const noexcept {
  const auto speaks = std::find_if(machines.begin(), machines.end(),
                                   [](const MachinePlace& each) { return !each.agent.empty(); });
  return speaks == machines.end() ? 0 : static_cast<std::size_t>(speaks - machines.begin());
}

int code_of_load(Errc error) noexcept {
  return error == Errc::kCorrupt ? kCodeInconsistent : code_of(error);
}

SetAnswer set_answer_of(const Error& error) {
  return {went_of(error.code), code_of(error.code), error.text, {}, false};
}

SetAnswer set_answer_of(const Status& status) {
  return status ? SetAnswer{} : set_answer_of(status.error());
}

SetSteps::SetSteps(const SetRequest& request, const std::atomic<bool>& stop, Say say)
    : request_(request),
      stop_(stop),
      say_(std::move(say)),
      budget_(monotonic_now(), request.timeout),
      machines_(request.machines.size()),
      agent_(request.machines[request.speaker()].agent),
      directory_(request.directory, request.names()) {}

Patience SetSteps::forward() const { return {budget_.there(), &stop_}; }
Patience SetSteps::uninterrupted() const { return {budget_.there(), nullptr}; }
Patience SetSteps::plugging() {
  return Patience{budget_.afterwards(monotonic_now()), nullptr}.at_most(kPlugMax);
}
Patience SetSteps::afterwards() { return plugging().at_most(kAfterwards); }
Patience SetSteps::diagnosis() const { return {budget_.diagnosis(monotonic_now()), nullptr}; }

SetAnswer SetSteps::perform(SetAction action) {
  switch (action.what) {
    case SetDo::kLook:
      return look();
    case SetDo::kPlug:
      return plug(action);
    case SetDo::kReturn:
      return order(GuestOrder::kReturn);
    default:
      return perform_own(action);
  }
}

SetAnswer SetSteps::plug(SetAction action) {
  const auto act = [&](Qmp& qmp) {
    auto plugged = plug(qmp, machines_[action.machine].cards[action.card]);
    plugged_in_ = plugged_in_ || plugged;
    return plugged;
  };
  return on(action.machine, act, afterwards());
}

SetAnswer SetSteps::on(std::size_t machine, const std::function<Status(Qmp&)>& act,
                       const Patience& patience) {
  std::optional<Qmp>& qmp = machines_[machine].qmp;
  if (!qmp) {
    auto opened = Qmp::open(request_.machines[machine].qmp, patience);
    if (!opened) return set_answer_of(opened.error());
    qmp.emplace(std::move(*opened));
  }
  const Status status = act(*qmp);
  // The next step connects anew where this one's connection is of no use.
  if (!status && !can_go_on(status.error().code)) qmp.reset();
  return set_answer_of(status);
}

/// Does its guest's agent, if we were told of one?
Status SetSteps::answers(const MachinePlace& place, const Patience& patience) const {
  if (place.agent.empty()) return {};
  GuestAgent agent(place.agent);
  if (const auto name = agent.host_name(patience); !name) return tl::unexpected(name.error());
  return {};
}

SetAnswer SetSteps::read(const Result<GuestAnswer>& said) {
  if (!said) {
    SetAnswer answer = set_answer_of(said.error());
    answer.code = code_of_later(said.error().code);
    return answer;
  }
  if (said->code == kCodeDone) {
    members_ = said->members;
    return {};
  }
  const std::string name = request_.machines[request_.speaker()].name;
  return {Went::kFailed, said->code, "in the guest " + name + ": " + said->text, {}, false};
}

SetAnswer SetSteps::give(const Verb& verb) {
  return read(give_verb(agent_, request_.guest, verb, tries_until(budget_.there(), false)));
}

SetAnswer SetSteps::give_afterwards(const Verb& verb) {
  const TimeNs limit = budget_.afterwards(monotonic_now());
  return read(give_verb(agent_, request_.guest, verb, tries_until(limit, false)));
}

SetAnswer SetSteps::give_briefly(const Verb& verb) {
  const TimeNs limit = budget_.diagnosis(monotonic_now());
  Tries tries = tries_until(limit, false);
  tries.end = limit;
  return read(give_verb(agent_, request_.guest, verb, tries));
}

/// Of the whole job, hence without a node.
SetAnswer SetSteps::order(GuestOrder order) {
  const bool forwards = order == GuestOrder::kPrepare;
  const TimeNs limit = forwards ? budget_.there() : budget_.afterwards(monotonic_now());
  const bool card_comes = !forwards && plugged_in_;
  return read(give_order(agent_, request_.guest, order, "", tries_until(limit, card_comes)));
}

}  // namespace livebtl::hypervisor
