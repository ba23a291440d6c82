// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_vms.h -- btlctl vm snapshot and vm restore: the machines that decide driven by
// the steps that do, timed, and told. Used by btlctl's one thread; owns nothing.
#pragma once

#include "hypervisor/restore/restore_machine.h"
#include "hypervisor/set/set_steps.h"
#include "hypervisor/snapshot/snapshot_machine.h"

namespace livebtl::hypervisor {

struct SetPhase {
  std::string name;
  std::string of;  // "vm1", "card hca0 of vm1", ""
  bool well = false;
  double milliseconds = 0.0;
  std::string text;  // what went wrong
};

struct SetReport {
  std::string verb;
  std::string directory;
  std::string hold;
  SetEnd end;
  bool dry_run = false;
  std::vector<SetPhase> phases;
  std::vector<std::string> plan;
};

/// `say`: hears what is being done.
SetReport snapshot_vms(const SetRequest& request, const std::atomic<bool>& stop,
                       const SetSteps::Say& say);
/// The request's machines have no cards: those are in the set.
SetReport restore_vms(SetRequest request, const std::atomic<bool>& stop, const SetSteps::Say& say);

/// Exactly what would be done, a line a phase: "save vm1: stop, ...". `machine` has looked.
std::vector<std::string> plan_of(const SnapshotMachine& machine, const SetRequest& request,
                                 const SetSteps& steps);
std::vector<std::string> plan_of(const RestoreMachine& machine, const SetRequest& request,
                                 const SetSteps& steps);
/// The document livebtl.vm/1.
Json report_json(const SetReport& report);

}  // namespace livebtl::hypervisor
