// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_library.h -- libibverbs, opened when a verbs transport is first made.
// Under the engine's lock.
#pragma once

#include "livebtl/result.h"
#include "transports/verbs/verbs_calls.h"

namespace livebtl::verbs {

/// The installed library. It is opened once a process and stays: its drivers cannot be unloaded.
/// Before the first call the process holds nothing of it. Errors: kUnsupported (not installed, or
/// too old), with what to install.
Result<Calls*> library();

}  // namespace livebtl::verbs
