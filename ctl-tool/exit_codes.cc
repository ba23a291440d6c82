// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/exit_codes.cc -- see exit_codes.h.
#include "ctl-tool/exit_codes.h"

namespace livebtl::tool {
namespace {

constexpr ExitCodeMeaning kCodes[] = {
    {0, "done, or already so"},
    {1, "the command line is wrong, or the answer could not be written"},
    {2, "no such job, node, transport, device or directory, or nobody answers at --connect"},
    {3,
     "refused: a pair would lose its last path, a transport cannot be opened, two jobs go by one "
     "name, a hook is another's file; names follow"},
    {4,
     "busy: another command or hold is in progress, or one was left unfinished (resume, abort); "
     "vm: it stands in the middle, call it again"},
    {5, "it failed or timed out, and was taken back"},
    {6,
     "committed, but not complete: not everybody has released the old transport (resume); vm: the "
     "guest has moved, or the set is made or restored, and a step after it is left"},
    {7, "released by the job, but held by somebody else: do not detach the device"},
    {8,
     "the snapshots are inconsistent, nobody is held by that hold, or what is to be restored is no "
     "set"},
    {9, "no permission, or not authenticated"},
    {10, "processes are missing: they have not started yet, or cannot be reached"},
    {130,
     "interrupted (Ctrl-C): the job runs on; resume or abort ends a command that was begun, a hold "
     "ends with its lease, vm has gone back"}};

}  // namespace

std::span<const ExitCodeMeaning> exit_codes() noexcept { return kCodes; }

}  // namespace livebtl::tool
