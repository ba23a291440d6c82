// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/plan.h -- what --dry-run shows: a sequence played with answers as they are
// expected, a line a step. Pure. Used by btlctl's one thread; owns nothing.
#pragma once

#include <initializer_list>

#include "hypervisor/plan/sequence.h"
#include "hypervisor/plan/steps.h"

namespace livebtl::hypervisor {

using Lines = std::vector<std::string>;
using Describe = std::function<std::string(Action)>;
using Expect = std::function<Answer(Action)>;

/// Plays until one of these steps is next, or the end: "unplug hca0: device_del hca0, ...".
Lines play(Sequence& sequence, const Describe& describe, const Expect& expect,
           std::initializer_list<Step> until = {});
/// The plan, then a line that says when it fails, and what is done then.
Lines with_failure(Lines plan, const std::string& when, const Lines& failing);

// Lines of steps that more than one command takes; `timeout`: of the whole command.
std::string order_text(const GuestJob& job, const Verb& verb, TimeNs timeout);  // ": btlctl ..."
std::string unplug_text(const Card& card, TimeNs timeout);

}  // namespace livebtl::hypervisor
