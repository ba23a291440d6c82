// SPDX-License-Identifier: BSD-3-Clause
// base/exit_code.h -- btlctl's exit codes and what they mean: the one place for the control plane, for
// btlctl and its manual, and for the hooks. Stable: scripts and hypervisors rely on them.
#pragma once

#include <span>

namespace livebtl {

enum class ExitCode : int {
  kDone = 0,  // done, or already so
  kUsage = 1,
  kNotFound = 2,      // no such job or transport
  kRefused = 3,       // a member refused: last path, or the transport cannot be opened
  kBusy = 4,          // another ladder is in progress, or one was left unfinished
  kRetracted = 5,     // time-out before the commit point; taken back as far as acknowledged
  kNotReleased = 6,   // committed, but not every member has released the old transport
  kForeign = 7,       // released by us, held by somebody else: do not detach
  kInconsistent = 8,  // snapshots
  kNotPermitted = 9,
  kMembersMissing = 10,
  kInterrupted = 130,  // SIGINT or SIGTERM, as shells have it
};

struct ExitCodeMeaning {
  ExitCode code;
  const char* name;     // "not_found", as the hooks call it
  const char* meaning;  // for --help and the manual
};

/// All, in the order of their numbers.
std::span<const ExitCodeMeaning> exit_codes() noexcept;

}  // namespace livebtl
