// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_plan.h -- the plan of a snapshot or a restore: what the machine that decides
// does if all goes well, and if the states do not fit together. Run by btlctl's one thread; owns
// nothing.
#pragma once

#include "hypervisor/plan/plan.h"
#include "hypervisor/set/set_steps.h"

namespace livebtl::hypervisor {

/// A line a phase: "save vm1: stop, ...". `machine` and `steps` have looked; `decides`: the step
/// after whose failure, announced by `if_it_fails`, the plan branches.
Lines plan_of(const Sequence& machine, Step decides, const std::string& if_it_fails,
              const SetRequest& request, const SetSteps& steps);

}  // namespace livebtl::hypervisor
