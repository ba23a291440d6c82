// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/hold.cc -- hold start | renew | check | end: parks all traffic of a job while
// its machines are snapshotted. job restored: lets the job go on from the snapshots.
#include "ctl-tool/command.h"
#include "ctl-tool/coordinate.h"
#include "ctl-tool/options.h"

namespace livebtl::tool {
namespace {

constexpr const char* kIdText = "Only this hold, as printed by start; default: the current one";

void define_start(CLI::App& app, CommandLine& line) {
  add_lease(app, line, 1.0, "60", "How long it lasts if nobody ends it (at most 86400)");
  add_hold_id(app, line, "The hold's id, a random number; default: start draws one");
}

void define_renew(CLI::App& app, CommandLine& line) {
  add_lease(app, line, 1.0, "60",
            "How long it lasts from now on if nobody ends it (at most 86400)");
  add_hold_id(app, line, kIdText);
}

void define_check(CLI::App& app, CommandLine& line) {
  add_hold_id(app, line, kIdText);
  add_ignored(app, "--lease");
}

void define_restored(CLI::App& app, CommandLine& line) {
  add_lease(app, line, 1.0, "60", "How long the hold lasts at least if this is interrupted");
  add_hold_id(app, line,
              "The hold during which the snapshots were taken; default: the current one");
  add_relays(app, line);
}

const Command kStart{
    .name = "start",
    .summary = "Park all traffic",
    .detail =
        R"(Parks each process at a frame boundary until nothing is in flight between any two of them.
Meanwhile, what the program sends waits. Prints the hold's id.

Example:
  btlctl hold start --lease 120)",
    .define = define_start,
    .run = run_hold,
    .foreground = true};

const Command kRenew{.name = "renew",
                     .summary = "Begin the lease anew",
                     .detail = R"(Example:
  btlctl hold renew --lease 120)",
                     .define = define_renew,
                     .run = run_hold,
                     .foreground = true};

const Command kCheck{
    .name = "check",
    .summary = "Tell whether the job was held without interruption",
    .detail =
        R"(Exit code 0: nothing was sent since start, and the snapshots taken fit together; 8: they do not.

Example:
  btlctl hold check            # after the last snapshot)",
    .define = define_check,
    .run = run_hold,
    .foreground = true};

const Command kEnd{.name = "end",
                   .summary = "Let traffic flow again",
                   .detail = R"(Also answers as check does: 8 if the hold was broken before.

Example:
  btlctl hold end)",
                   .define = define_check,
                   .run = run_hold,
                   .foreground = true};

const Command* const kHoldActions[] = {&kStart, &kRenew, &kCheck, &kEnd};

const Command kRestored{
    .name = "restored",
    .summary = "Continue the job from the snapshots of one hold",
    .detail =
        R"(Checks that each process is held by the same hold, raises all to a new incarnation of the job, has
them reconnect, and ends the hold. Old processes that still run somewhere are fenced out: the job no
longer talks to them. Machines whose snapshots were not taken together are named, and the job does
not go on (8). May be repeated. If a machine was restored with other addresses, name its relay
(btlctl jobs, there): its members can tell the others of it only once the hold is over.

Examples:
  btlctl job restored
  btlctl job restored --id 0x1f2e3d4c5b6a7988 --relay 10.1.0.9:40123)",
    .define = define_restored,
    .conflict = conflict_of_relays,
    .run = run_hold,
    .foreground = true};

const Command* const kJobActions[] = {&kRestored};

}  // namespace

const Command kHold{
    .name = "hold",
    .summary = "Park all traffic while snapshots are taken",
    .detail =
        R"(For snapshots of several machines that fit together: start parks all traffic, renew begins the
lease anew, check tells whether the job was held without interruption since start, and end lets
traffic flow again and tells the same. A hold ends by itself when its lease is over, and is then
broken for good: exit code 8. The migration of a single machine needs no hold.

Examples:
  btlctl hold start --lease 120
  btlctl hold check            # after the last snapshot
  btlctl hold end)",
    .actions = kHoldActions};

const Command kJob{
    .name = "job",
    .summary = "Continue a job whose machines were restored from snapshots",
    .detail =
        R"(Call this once all machines of the job have been restored from snapshots taken during one hold, and
run again; but before the leases of the hold end, which stood still while the machines did.

Examples:
  btlctl job restored
  btlctl job restored --id 0x1f2e3d4c5b6a7988)",
    .actions = kJobActions};

}  // namespace livebtl::tool
