// SPDX-License-Identifier: BSD-3-Clause
// base/exit_code.h -- btlctl's exit codes and their meanings, defined once for the control plane,
// btlctl, its manual and the hooks. Stable: scripts and hypervisors rely on them.
#pragma once

namespace livebtl {

enum class ExitCode : int {
  kDone = 0,  // done, or already so
  kUsage = 1,
  kNotFound = 2,      // no such job or transport
  kRefused = 3,       // a member refused: last path, or the transport cannot be opened
  kBusy = 4,          // another ladder (hold: another hold) is in progress, or unfinished
  kRetracted = 5,     // time-out before the commit point; taken back as far as acknowledged
  kNotReleased = 6,   // committed, but not every member has released the old transport
  kForeign = 7,       // released by us, held by somebody else: do not detach
  kInconsistent = 8,  // snapshots
  kNotPermitted = 9,
  kMembersMissing = 10,
  kInterrupted = 130,  // SIGINT or SIGTERM, as in shells
};

struct ExitCodeMeaning {
  ExitCode code;
  const char* reason;   // the code as a word, in JSON; as stable as the number
  const char* meaning;  // for --help and the manual
};

/// All codes, in numerical order.
inline constexpr ExitCodeMeaning kExitCodes[] = {
    {ExitCode::kDone, "done", "done, or already so"},
    {ExitCode::kUsage, "usage", "the command line is wrong, or the answer could not be written"},
    {ExitCode::kNotFound, "not-found",
     "no such job, node, transport, device or directory, or nobody answers at --connect"},
    {ExitCode::kRefused, "refused",
     "refused: a pair would lose its last path, a transport cannot be opened, the job is held, two "
     "jobs have one name, a hook's file is not livebtl's; names follow; doctor: there are faults"},
    {ExitCode::kBusy, "busy",
     "busy: another command is in progress, or one was left unfinished (resume, abort); hold: "
     "there is another hold; vm: it stopped halfway, call it again"},
    {ExitCode::kRetracted, "taken-back", "failed or timed out, and was taken back"},
    {ExitCode::kNotReleased, "incomplete",
     "committed, but not complete: not every process has released the old transport (resume); vm: "
     "the guest has moved, or the set is made or restored, and a later step is left"},
    {ExitCode::kForeign, "held-elsewhere",
     "released by the job, but held by others: do not detach the device"},
    {ExitCode::kInconsistent, "inconsistent",
     "the snapshots are inconsistent, no process is held by that hold, or what is to be restored "
     "is not a set"},
    {ExitCode::kNotPermitted, "not-permitted", "no permission, or not authenticated"},
    {ExitCode::kMembersMissing, "members-missing",
     "processes are missing: they have not started yet, or cannot be reached"},
    {ExitCode::kInterrupted, "interrupted",
     "interrupted (Ctrl-C): the job keeps running; a command that had begun was taken back unless "
     "it was committed, a hold ends with its lease"}};

/// For kBusy: "busy". "": not one of these codes.
constexpr const char* reason_of(ExitCode code) noexcept {
  for (const auto& entry : kExitCodes) {
    if (entry.code == code) return entry.reason;
  }
  return "";
}

}  // namespace livebtl
