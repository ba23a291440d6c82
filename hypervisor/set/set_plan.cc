// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_plan.cc -- the plan of a snapshot or a restore: what the machine that decides
// does if all goes well, and if the machines' states do not fit together. Run by btlctl's one
// thread; owns nothing.
#include "hypervisor/set/set_run.h"

namespace livebtl::hypervisor {
namespace {

class SetPlan {
 public:
  SetPlan(const SetRequest& request, const SetSteps& steps)
      : request_(request), steps_(steps), hold_(steps.hold().empty() ? "ID" : steps.hold()) {}

  std::string text(Action action);

 private:
  std::string order(const Verb& verb) const;
  std::string of_the_job(Step step) const;
  std::string of_a_machine(Action action) const;
  std::string of_the_set(Step step) const;

  const SetRequest& request_;
  const SetSteps& steps_;
  std::string hold_;
};

std::string SetPlan::order(const Verb& verb) const {
  const MachinePlace& speaker = request_.speaker();
  return "in the guest " + speaker.name + ", by " + speaker.agent +
         order_text(request_.guest, verb, request_.timeout);
}

std::string SetPlan::of_the_job(Step step) const {
  switch (step) {
    case Step::kPrepare:
      return order(verb_of(GuestOrder::kPrepare, ""));
    case Step::kHold:
      return order(hold_start(hold_, request_.lease));
    case Step::kRenew:
      return order(hold_renew(hold_, request_.lease));
    case Step::kCheck:
      return order(hold_check(hold_));
    case Step::kEndHold:
      return order(hold_end(hold_));
    case Step::kRestored:
      return order(job_restored(hold_));
    default:
      return order(verb_of(GuestOrder::kReturn, ""));
  }
}

std::string SetPlan::of_a_machine(Action action) const {
  const std::string file =
      request_.directory + "/" + ram_file(request_.machines[action.machine].name);
  const std::vector<Card>& cards = steps_.cards(action.machine);
  switch (action.step) {
    case Step::kUnplug:
      return unplug_text(cards[action.card], request_.timeout);
    case Step::kSave:
      return "stop, migrate to " + file;
    case Step::kLoad:
      return "migrate-incoming from " + file;
    case Step::kPlug:
      return steps_.plug_line(cards[action.card]);
    default:
      return action.step == Step::kHalt ? "stop" : "cont";
  }
}

std::string SetPlan::of_the_set(Step step) const {
  switch (step) {
    case Step::kClaim:
      return "make " + request_.directory +
             ", empty, for its owner alone; note the hold in each QEMU, and lift its max-bandwidth";
    case Step::kSeal:
      return "write " + request_.directory + "/" + kSetFile;
    case Step::kDiscard:
      return "delete all files in " + request_.directory;
    case Step::kForget:
      return "in each QEMU put max-bandwidth back, and delete the note";
    default:
      return "";
  }
}

std::string SetPlan::text(Action action) {
  if (action.step == Step::kClaim) hold_ = "ID";  // a new one; until then it is a killed call's
  if (action.of_a_machine()) return of_a_machine(action);
  std::string text = of_the_set(action.step);
  return text.empty() ? of_the_job(action.step) : text;
}

}  // namespace

Lines plan_of(const SetCommand& command, const SetRequest& request, const Sequence& machine,
              const SetSteps& steps) {
  SetPlan plan(request, steps);
  const auto describe = [&plan](Action action) { return plan.text(action); };
  const auto goes_well = [](Action) { return Answer{}; };
  const auto whole = machine.clone();
  Lines lines = play(*whole, describe, goes_well);
  const auto failing = machine.clone();
  play(*failing, describe, goes_well, {command.decides});
  if (failing->next().step == Step::kEnd) return lines;
  failing->answer({Outcome::kFailed, kCodeInconsistent});
  return with_failure(std::move(lines), command.if_it_fails, play(*failing, describe, goes_well));
}

}  // namespace livebtl::hypervisor
