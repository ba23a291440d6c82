// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_plan.cc -- the plan of a snapshot or a restore: what the machines that decide
// do if all goes well, and if it does not. Run by btlctl's one thread; owns nothing.
#include <algorithm>

#include "hypervisor/restore/restore_machine.h"
#include "hypervisor/set/set_vms.h"
#include "hypervisor/snapshot/snapshot_machine.h"

namespace livebtl::hypervisor {
namespace {

class SetPlan {
 public:
  SetPlan(const SetRequest& request, const SetSteps& steps)
      : request_(request), steps_(steps), hold_(steps.hold().empty() ? "ID" : steps.hold()) {
    for (const MachinePlace& each : request.machines) names_.push_back({each.name, each.cards});
  }

  /// What this machine does, from where it stands.
  template <class Machine>
  void add(Machine machine, const std::string& before) {
    for (; machine.next().what != SetDo::kEnd; machine.answer({})) add(machine.next(), before);
  }
  /// ... if it fails there; `when`: for people.
  template <class Machine>
  void add_failed(Machine machine, SetDo there, const std::string& when) {
    while (machine.next().what != there && machine.next().what != SetDo::kEnd) machine.answer({});
    if (machine.next().what == SetDo::kEnd) return;
    lines.push_back(when);
    machine.answer({Went::kFailed, kCodeInconsistent, "", {}, false});
    add(machine, "  ");
  }

  std::vector<std::string> lines;

 private:
  void add(SetAction action, const std::string& before);
  std::string order(const Verb& verb) const;
  std::string of_the_job(SetDo what) const;
  std::string of_a_machine(SetAction action) const;
  std::string of_the_set(SetDo what) const;

  const SetRequest& request_;
  const SetSteps& steps_;
  std::string hold_;
  std::vector<MachineNames> names_;
};

std::string SetPlan::order(const Verb& verb) const {
  const MachinePlace& place = request_.machines[request_.speaker()];
  std::string line = "in the guest " + place.name + ", by " + place.agent + ":";
  for (const std::string& word :
       words_of(request_.guest, verb, std::min(Budget::way_there(request_.timeout), kPrepareMax)))
    line += " " + word;
  return line;
}

std::string SetPlan::of_the_job(SetDo what) const {
  switch (what) {
    case SetDo::kPrepare:
      return order(verb_of(GuestOrder::kPrepare, ""));
    case SetDo::kHold:
      return order(hold_start(hold_, request_.lease));
    case SetDo::kRenew:
      return order(hold_renew(hold_, request_.lease));
    case SetDo::kCheck:
      return order(hold_check(hold_));
    case SetDo::kEndHold:
      return order(hold_end(hold_));
    case SetDo::kRestored:
      return order(job_restored(hold_));
    default:
      return order(verb_of(GuestOrder::kReturn, ""));
  }
}

std::string SetPlan::of_a_machine(SetAction action) const {
  const std::string file =
      request_.directory + "/" + ram_file(request_.machines[action.machine].name);
  const std::vector<Card>& cards = steps_.cards(action.machine);
  switch (action.what) {
    case SetDo::kUnplug:
      return "device_del " + cards[action.card].id + ", and wait up to " +
             std::to_string(std::min(Budget::way_there(request_.timeout), kUnplugMax) / kSecond) +
             " s for DEVICE_DELETED";
    case SetDo::kSave:
      return "stop, migrate to " + file;
    case SetDo::kLoad:
      return "migrate-incoming from " + file;
    case SetDo::kPlug:
      return steps_.plug_line(cards[action.card]);
    default:
      return action.what == SetDo::kHalt ? "stop" : "cont";
  }
}

std::string SetPlan::of_the_set(SetDo what) const {
  switch (what) {
    case SetDo::kClaim:
      return "make " + request_.directory +
             ", empty, for its owner alone; note the hold in each QEMU, and lift its max-bandwidth";
    case SetDo::kSeal:
      return "write " + request_.directory + "/" + kSetFile;
    case SetDo::kDiscard:
      return "delete all files in " + request_.directory;
    case SetDo::kForget:
      return "in each QEMU put max-bandwidth back, and delete the note";
    default:
      return "";
  }
}

void SetPlan::add(SetAction action, const std::string& before) {
  if (action.what == SetDo::kClaim) hold_ = "ID";  // one of its own; before, of a killed call
  const std::string of = object_of(action, names_);
  std::string text = action.of_a_machine() ? of_a_machine(action) : of_the_set(action.what);
  if (text.empty()) text = of_the_job(action.what);
  lines.push_back(before + name_of(action.what) + (of.empty() ? "" : " " + of) + ": " + text);
}

}  // namespace

std::vector<std::string> plan_of(const SnapshotMachine& machine, const SetRequest& request,
                                 const SetSteps& steps) {
  SetPlan plan(request, steps);
  plan.add(machine, "");
  plan.add_failed(machine, SetDo::kCheck, "if that says that the job was not held throughout:");
  return plan.lines;
}

std::vector<std::string> plan_of(const RestoreMachine& machine, const SetRequest& request,
                                 const SetSteps& steps) {
  SetPlan plan(request, steps);
  plan.add(machine, "");
  plan.add_failed(machine, SetDo::kRestored, "if that says that they do not fit together:");
  return plan.lines;
}

}  // namespace livebtl::hypervisor
