// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_run.h -- a whole snapshot or restore: its machine driven by its steps, or only
// its plan. Used by btlctl's one thread; owns nothing.
#pragma once

#include "hypervisor/plan/report.h"
#include "hypervisor/set/set_steps.h"

namespace livebtl::hypervisor {

/// What btlctl vm snapshot and vm restore do not share.
struct SetCommand {
  const char* verb;
  Step decides;             // in the guest: whether the machines' states fit together
  const char* if_it_fails;  // in a plan, the heading of what is done then
};

Report empty_report(const SetCommand& command, const SetRequest& request);

/// `stop`: the user wants the machines back.
Report run_set(const SetCommand& command, const SetRequest& request, Sequence& machine,
               SetSteps& steps, const std::atomic<bool>& stop, const Progress& progress);

}  // namespace livebtl::hypervisor
