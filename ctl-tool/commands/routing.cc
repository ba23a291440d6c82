// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/routing.cc -- add, quiesce, remove, switch, set: what the job sends on; resume,
// abort: how an unfinished one of these ends. All are ladders (coordinate.h).
#include "control/ladder/assignments.h"
#include "ctl-tool/command.h"
#include "ctl-tool/coordinate.h"
#include "ctl-tool/options.h"

namespace livebtl::tool {
namespace {

void define_transport(CLI::App& app, CommandLine& line) {
  add_transport(app, line, "NAME", "A transport: sm, tcp, ... (btlctl list)");
  add_scope(app, line);
}

void define_switch(CLI::App& app, CommandLine& line) {
  add_scope(app, line);
  add_transport(app, line, "FROM", "The transport to move traffic from");
  add_transport(app, line, "TO", "The transport to move it to");
}

void define_set(CLI::App& app, CommandLine& line) {
  add_transport(app, line, "NAME", "A transport");
  const auto take = [&line](const std::vector<std::string>& assignments) {
    line.arguments.insert(line.arguments.end(), assignments.begin(), assignments.end());
  };
  app.add_option_function<std::vector<std::string>>(
         "ASSIGNMENT", take,
         "exclusivity=N, weight=N (at least 1), single-copy=auto, cma, knem or none; each takes "
         "default too")
      ->required()
      ->expected(1, 3)
      ->type_name("KEY=VALUE")
      ->option_text(" ");
}

std::string conflict_of_set(const CommandLine& line) {
  return control::assignments_problem(std::span(line.arguments).subspan(1));
}

}  // namespace

const Command kAdd{
    .name = "add",
    .summary = "Allow a removed or quiesced transport to be used again",
    .detail =
        R"(The transport is opened wherever both ends reach it. Traffic moves to it only if it wins by
exclusivity (`btlctl set`). Succeeds at once if it is already in use.

Example:
  btlctl add sm)",
    .define = define_transport,
    .run = run_ladder};

const Command kQuiesce{
    .name = "quiesce",
    .summary = "Give a transport no new traffic, but keep it connected",
    .detail = R"(All pairs are drained off the transport; its connections stay open and unused.

Example:
  btlctl quiesce tcp)",
    .define = define_transport,
    .run = run_ladder};

const Command kRemove{
    .name = "remove",
    .summary = "Drain, close and release a transport",
    .detail =
        R"(Answers 'released' only after each process has checked that it no longer holds a descriptor or a
mapping of the device: then the device may be detached. Refused if a pair would be cut off; the
pairs are named.

Examples:
  btlctl remove sm
  btlctl --dry-run remove tcp     # which pairs would be cut off?)",
    .define = define_transport,
    .run = run_ladder};

const Command kSwitch{
    .name = "switch",
    .summary = "Move traffic from one transport to another",
    .detail =
        R"(All pairs that use FROM and reach TO move to TO; pairs that do not reach TO stay, and are
reported. Nothing is lost, repeated or reordered, and the program never notices. Succeeds at once
if all have already moved. FROM's device may stay open: see `btlctl remove`.

Examples:
  btlctl switch sm tcp
  btlctl --timeout 5 switch tcp sm)",
    .define = define_switch,
    .run = run_ladder};

const Command kSet{
    .name = "set",
    .summary = "Change a transport's exclusivity or weight, or how sm copies",
    .detail =
        R"(Of the transports that a pair reaches, the one with the highest exclusivity is used. The weight
is the share of bulk data if several are used at once. `default` restores a value.

single-copy applies only to sm: large messages are read from the sender's memory (cma: by
process_vm_readv; knem: by the driver of /dev/knem), go through buffers that both ends share (none),
or take whichever way is measured to be faster (auto). A pair that cannot read in the way that is
set uses the buffers. A process started with LIVEBTL_SM_SINGLE_COPY=none neither reads nor is read.

Examples:
  btlctl set tcp exclusivity=70000
  btlctl set sm single-copy=none
  btlctl set tcp weight=2
  btlctl set tcp exclusivity=default)",
    .define = define_set,
    .conflict = conflict_of_set,
    .run = run_ladder};

const Command kResume{
    .name = "resume",
    .summary = "Finish an unfinished command",
    .detail =
        R"(Completes a switch, removal or similar command whose btlctl was killed, or that ended with exit
code 6. If nobody calls it, the job does the same by itself after some seconds (LIVEBTL_TAKEOVER).

Example:
  btlctl resume)",
    .run = run_ladder};

const Command kAbort{
    .name = "abort",
    .summary = "Take back an unfinished command",
    .detail =
        R"(A switch whose btlctl was killed stays where it is, and the job keeps running; after some seconds
the job finishes the switch by itself. Before that, abort takes it back rung by rung. After the
commit point abort is refused, and `btlctl resume` finishes the switch.

Example:
  btlctl abort)",
    .run = run_ladder};

}  // namespace livebtl::tool
