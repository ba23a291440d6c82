// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/checkpoint.cc -- checkpoint prepare | return: sets aside the transports that are
// bound to a device, and brings back just these. run | restore: checkpoint_criu.cc.
#include "base/transport_name.h"
#include "ctl-tool/command.h"
#include "ctl-tool/commands/checkpoint_criu.h"
#include "ctl-tool/coordinate.h"
#include "ctl-tool/options.h"

namespace livebtl::tool {
namespace {

void define_prepare(CLI::App& app, CommandLine& line) {
  const auto take = [&line](const std::vector<std::string>& names) {
    for (const std::string& name : names) line.arguments.emplace_back(canonical_transport(name));
  };
  app.add_option_function<std::vector<std::string>>(
         "NAME", take, "Transports to set aside; default: all bound to a device")
      ->expected(0, 4)
      ->type_name("TRANSPORT")
      ->option_text(" ");
  add_scope(app, line);
  CLI::Option* hold =
      app.add_flag("--hold", line.hold, "Then park all traffic, as hold start does");
  // A lease without a hold would look as if the job were held.
  add_lease(app, line, 1.0, "60", "With --hold: how long the hold lasts if nobody ends it")
      ->needs(hold);
}

void define_return(CLI::App& app, CommandLine& line) {
  add_scope(app, line);
  add_relays(app, line);
}

std::string conflict_of_prepare(const CommandLine& line) {
  return line.hold && line.no_wait ? "--no-wait is not possible with --hold" : "";
}

const Command kPrepare{
    .name = "prepare",
    .summary = "Set aside the transports that are bound to a device",
    .detail =
        R"(Drains, closes and releases them, as remove does, and remembers which of them were in use. With
--scope node:NAME only that node releases them. May be repeated.

Examples:
  btlctl checkpoint prepare --scope node:vm1
  btlctl checkpoint prepare --hold --lease 120)",
    .define = define_prepare,
    .conflict = conflict_of_prepare,
    .run = run_ladder};

const Command kReturn{
    .name = "return",
    .summary = "Bring back what prepare set aside",
    .detail =
        R"(Brings back only the transports that were in use, each as soon as its device is there. May be
repeated.

Example:
  btlctl checkpoint return --scope node:vm1 --no-wait)",
    .define = define_return,
    .conflict = conflict_of_relays,
    .run = run_ladder};

const Command* const kCheckpointActions[] = {&kPrepare, &kReturn, &kCheckpointRun,
                                             &kCheckpointRestore, &kCheckpointNode};

}  // namespace

const Command kCheckpoint{
    .name = "checkpoint",
    .summary = "Release what a checkpoint cannot save; dump a job with CRIU",
    .detail =
        R"(prepare drains, closes and releases the transports that are bound to a device (verbs, ofi), and
return brings back those that were in use. With --scope node:NAME only that node releases them, and
the rest of the job keeps its devices: enough for a live migration. prepare --hold then parks the
whole job, for snapshots that fit together (hold). run dumps a job with CRIU, from prepare to a
sealed set, and restore continues the job from that set; node is their part on each node.

Examples:
  btlctl checkpoint prepare --scope node:vm1
  btlctl checkpoint return --scope node:vm1 --no-wait
  btlctl checkpoint prepare --hold --lease 120
  btlctl checkpoint run --criu monday)",
    .actions = kCheckpointActions};

}  // namespace livebtl::tool
