// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/verb_texts.h -- btlctl's commands, and what its help and manual say of them. For
// command_line.cc alone.
#pragma once

namespace livebtl::tool {

struct Verb {
  const char* name;
  const char* summary;
  const char* detail;
};

inline constexpr Verb kPlain[] = {
    {"jobs", "List the jobs on this node",
     "Lists all jobs of yours on this node (root: of all users) with their processes, and where "
     "each\n"
     "can be reached from other machines (RELAY, for --connect). A job of one node has no relay, "
     "unless\n"
     "LIVEBTL_RELAY=on was set for it.\n\n"
     "Examples:\n  btlctl jobs\n"
     "  btlctl --connect node7:40123 --secret-file job.secret jobs"},
    {"list", "List the job's transports",
     "Shows each transport: whether it may be used, its exclusivity and weight, how many pairs use "
     "it\n"
     "now, and the bytes it has carried. PAIRS send their messages on it, BULK the data of large "
     "ones,\n"
     "which transports of equal exclusivity share by weight. A pair is two processes that are "
     "connected,\n"
     "or one with itself: it counts once, here and in what `btlctl switch`, `add` and the others "
     "say "
     "to\n"
     "have moved. In lines of one process (`btlctl status`, --dry-run, --json by process) its own "
     "pairs\n"
     "stand, each thus with both ends.\n\nExample:\n  btlctl list"},
    {"abort", "Take back an unfinished switch",
     "A switch whose btlctl was killed stays where it is, and the job runs on; after some seconds\n"
     "it finishes it by itself. Called before, this takes it back rung by rung; past the point of "
     "no\n"
     "return it is refused, and `btlctl resume` finishes it.\n\n"
     "Example:\n  btlctl abort"},
    {"resume", "Finish an unfinished switch",
     "A switch whose btlctl was killed, or that ended with 'committed but not released', is "
     "carried on\n"
     "to its end. It is what the job does by itself if nobody calls it "
     "(LIVEBTL_TAKEOVER).\n\nExample:\n  btlctl resume"},
    {"settings", "List all settings",
     "Lists the settings of the library, to be given as LIVEBTL_NAME in the job's environment, "
     "with\n"
     "type, default and meaning.\n\nExample:\n  btlctl settings"},
};

inline constexpr Verb kOnTransport[] = {
    {"add", "Let a removed or quiesced transport be used again",
     "The transport is opened wherever both ends reach it. Traffic moves to it only if it wins by\n"
     "exclusivity (`btlctl set`). Succeeds at once if it is in use already.\n\n"
     "Example:\n  btlctl add sm"},
    {"quiesce", "Give a transport no new traffic, but keep it connected",
     "All pairs are drained off the transport; its connections stay open and unused.\n\n"
     "Example:\n  btlctl quiesce tcp"},
    {"remove", "Drain, close and release a transport",
     "Answers 'released' only after each process has looked that it holds no descriptor and no\n"
     "mapping of the device any more: then it may be detached. Refused, with the pairs named, if\n"
     "one would be cut off.\n\n"
     "Examples:\n  btlctl remove sm\n  btlctl --dry-run remove tcp     # who would be cut off?"},
};

inline constexpr Verb kSwitch = {
    "switch", "Move traffic from one transport to another",
    "All pairs that use FROM and reach TO move to TO; pairs that do not reach TO stay, and are\n"
    "reported. Nothing is lost, repeated or reordered, and the program never notices. Succeeds\n"
    "at once if all are there already. FROM's device may stay open: see `btlctl remove`.\n\n"
    "Examples:\n  btlctl switch sm tcp\n  btlctl --timeout 5 switch tcp sm"};

inline constexpr Verb kSet = {
    "set", "Change a transport's exclusivity or weight",
    "Among the transports that a pair reaches, the one of highest exclusivity is used. The weight\n"
    "is the share of bulk data where several are used at once. `default` restores a value.\n\n"
    "Examples:\n  btlctl set tcp exclusivity=70000\n  btlctl set tcp weight=2\n"
    "  btlctl set tcp exclusivity=default"};

inline constexpr Verb kSecret = {
    "secret", "Write the job's secret to a new file",
    "The file is for `btlctl --secret-file` on a machine that has no process of the job: copy it "
    "there,\n"
    "readable by you alone. Whoever holds it commands the job, and can pose as one of its "
    "processes.\n\n"
    "Examples:\n  btlctl secret job.secret\n  btlctl jobs          # RELAY: node7:40123\n"
    "  btlctl --connect node7:40123 --secret-file job.secret status     # elsewhere"};

inline constexpr Verb kStatus = {
    "status", "Show where each process stands",
    "Shows for each process the rung it stands on, what it waits for, and which transports its\n"
    "pairs send on: PAIRS messages, BULK the data of large ones. With --peers also every pair: "
    "what\n"
    "messages are sent on, what the data of large ones is shared by, and what the peer's messages\n"
    "came on.\n\n"
    "Examples:\n  btlctl status\n  btlctl status --peers\n  btlctl --json status"};

inline constexpr Verb kWatch = {
    "watch", "Show the job as it changes, until interrupted",
    "Prints a line whenever a process changes its rung, joins or leaves, and "
    "each transport's rate.\n"
    "With --json: one JSON document a line.\n\nExample:\n  btlctl watch"};

inline constexpr Verb kCheckpoint = {
    "checkpoint", "Let go of what a virtual machine cannot be migrated or saved with",
    "prepare drains, closes and releases the transports that are bound to a device (verbs), as "
    "remove\n"
    "does, and remembers which were in use; return brings back just these, or, where a device is "
    "not\n"
    "there yet, as soon as it is. Both may be repeated. With\n"
    "--scope node:NAME only that machine lets go, and the rest of the job keeps its devices: all "
    "that\n"
    "a live migration needs. --hold parks the whole job afterwards, for snapshots that fit "
    "together "
    "(hold).\n\n"
    "Examples:\n  btlctl checkpoint prepare --scope node:vm1\n"
    "  btlctl checkpoint return --scope node:vm1 --no-wait\n"
    "  btlctl checkpoint prepare --hold --lease 120"};

inline constexpr Verb kHooks = {
    "hooks", "Install or check the hooks of guest agents, hypervisors and checkpointers",
    "install writes each named hook to where its caller looks for it, and repeats that if it is "
    "older;\n"
    "what stands there and is none of livebtl's is left alone, and named. check says for each "
    "whether\n"
    "it is there, whole and executable. Hooks: qemu-ga (in a guest), libvirt, virsh and criu (on "
    "a host).\n\n"
    "Examples:\n  btlctl hooks install libvirt\n  btlctl hooks check\n"
    "  btlctl --dry-run hooks install qemu-ga --root /srv/image"};

inline constexpr Verb kHold = {
    "hold", "Park all traffic while snapshots are taken",
    "For snapshots of several machines that fit together: start parks each process at a frame\n"
    "boundary until nothing is on its way between any two of them (what the program sends waits),\n"
    "renew begins its lease anew, check says whether it was so without interruption since, and "
    "end\n"
    "sends on, and says it too. A hold ends by itself when its lease is over, and is then broken "
    "for\n"
    "ever: exit code 8.\n"
    "To migrate one machine no hold is needed.\n\n"
    "Examples:\n  btlctl hold start --lease 120\n"
    "  btlctl hold check            # after the last snapshot\n  btlctl hold end"};

inline constexpr Verb kJob = {
    "job", "Let a job go on whose machines were restored from snapshots",
    "restored: all machines of the job were restored from snapshots that were taken during one "
    "hold,\n"
    "and run again. Checks that each process is held by that one, raises all to a new incarnation "
    "of\n"
    "the job, has them connect anew and ends the hold. Processes of before that still run "
    "somewhere "
    "are\n"
    "fenced out: nobody talks to them any more. Machines that were not snapshot together are "
    "named, "
    "and\n"
    "not continued (8). It may be repeated. To be called before the leases of the hold end, which "
    "stood\n"
    "still while the machines did.\n\n"
    "Examples:\n  btlctl job restored\n  btlctl job restored --id 0x1f2e3d4c5b6a7988"};

inline constexpr Verb kVm = {
    "vm", "Migrate, snapshot or restore virtual machines under a running job",
    "Run where QEMU runs. migrate has the job in the guest leave its cards, by the guest agent and "
    "the\n"
    "guest's own btlctl; unplugs them, migrates the guest live, and follows it. What fails before "
    "the\n"
    "migration is completed, Ctrl-C too, is taken back: cards are plugged in again, and the job\n"
    "returns to them. Afterwards the job stays on what moved with the guest, until cards are "
    "plugged\n"
    "in at the destination, which this does too if it can reach it.\n\n"
    "snapshot saves the memory of all machines of a job into DIR, while the job is held (hold): "
    "only if\n"
    "it was so throughout does DIR get its set.json; else (8) nothing is left of it. restore loads "
    "such\n"
    "a set into QEMUs that wait for it (-incoming defer -S, without the cards), and has the job go "
    "on;\n"
    "a set that does not fit together is refused (8), and its machines are stopped.\n\n"
    "Killed in the middle: call it again, and it goes on from where it stands. --timeout (900, "
    "at\n"
    "least 30) bounds all of it: two thirds are for the way to the completed migration, the last\n"
    "snapshot, the job that goes on; the rest is kept for the way back, or for what follows. An "
    "answer\n"
    "from a guest that is under way then is waited for half a minute longer at most.\n\n"
    "Examples:\n"
    "  btlctl vm migrate --qmp vm1.qmp --ga vm1.agent --to tcp:node8:4444 --card hca0\n"
    "  btlctl --dry-run vm migrate --qmp vm1.qmp --ga vm1.agent --to tcp:node8:4444 --card hca0\n"
    "  btlctl vm snapshot monday --vm vm1,qmp=1.qmp,ga=1.agent,card=hca0 "
    "--vm vm2,qmp=2.qmp,ga=2.agent\n"
    "  btlctl vm restore monday --vm vm1,qmp=1.qmp,ga=1.agent --vm vm2,qmp=2.qmp,ga=2.agent"};

}  // namespace livebtl::tool
