// SPDX-License-Identifier: BSD-3-Clause
// base/exit_code.cc -- see exit_code.h.
#include "base/exit_code.h"

namespace livebtl {
namespace {

constexpr ExitCodeMeaning kExitCodes[] = {
    {ExitCode::kDone, "done", "done, or already so"},
    {ExitCode::kUsage, "usage", "the command line is wrong, or the answer could not be written"},
    {ExitCode::kNotFound, "not_found",
     "no such job, node, transport, device or directory, or nobody answers at --connect"},
    {ExitCode::kRefused, "refused",
     "refused: a pair would lose its last path, a transport cannot be opened, two jobs go by one "
     "name, a hook is another's file; names follow"},
    {ExitCode::kBusy, "busy",
     "busy: another command or hold is in progress, or one was left unfinished (resume, abort); "
     "vm: it stands in the middle, call it again"},
    {ExitCode::kRetracted, "retracted", "it failed or timed out, and was taken back"},
    {ExitCode::kNotReleased, "not_released",
     "committed, but not complete: not everybody has released the old transport (resume); vm: the "
     "guest has moved, or the set is made or restored, and a step after it is left"},
    {ExitCode::kForeign, "foreign",
     "released by the job, but held by somebody else: do not detach the device"},
    {ExitCode::kInconsistent, "inconsistent",
     "the snapshots are inconsistent, nobody is held by that hold, or what is to be restored is no "
     "set"},
    {ExitCode::kNotPermitted, "not_permitted", "no permission, or not authenticated"},
    {ExitCode::kMembersMissing, "members_missing",
     "processes are missing: they have not started yet, or cannot be reached"},
    {ExitCode::kInterrupted, "interrupted",
     "interrupted (Ctrl-C): the job runs on; resume or abort ends a command that was begun, a hold "
     "ends with its lease, vm has gone back"}};

}  // namespace

std::span<const ExitCodeMeaning> exit_codes() noexcept { return kExitCodes; }

}  // namespace livebtl
