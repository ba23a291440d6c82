// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/registry.h -- all commands; each stands in a file of its own or of its kind.
#pragma once

#include "ctl-tool/command.h"

namespace livebtl::tool {

extern const Command kJobs, kList, kStatus, kWatch, kAdd, kQuiesce, kRemove, kSwitch, kSet, kResume,
    kAbort, kCheckpoint, kHold, kJob, kVm, kHooks, kSecret, kSettings;

/// In the order of --help and of the manual.
inline constexpr const Command* kCommands[] = {
    &kJobs,   &kList,  &kStatus,     &kWatch, &kAdd, &kQuiesce, &kRemove, &kSwitch, &kSet,
    &kResume, &kAbort, &kCheckpoint, &kHold,  &kJob, &kVm,      &kHooks,  &kSecret, &kSettings};

}  // namespace livebtl::tool
