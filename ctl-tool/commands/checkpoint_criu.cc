// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/checkpoint_criu.cc -- checkpoint run | restore: a job of this node, dumped by CRIU as a sealed set, and
// restored from it (docs/CRIU.md). Run by btlctl's one thread; owns nothing.
#include "ctl-tool/commands/checkpoint_criu.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "control/client/relay_address.h"
#include "ctl-tool/choose_job.h"
#include "ctl-tool/commands/checkpoint_criu_options.h"
#include "ctl-tool/commands/job_nodes.h"
#include "ctl-tool/commands/relay_pause.h"
#include "ctl-tool/commands/vm.h"
#include "ctl-tool/options.h"
#include "ctl-tool/progress_line.h"
#include "ctl-tool/say.h"
#include "hypervisor/criu/node_side.h"

namespace livebtl::tool {
namespace {

/// What the job's file in the set is named after.
std::string node_name() {
  const char* const named = ::secure_getenv("LIVEBTL_NODE");
  utsname host{};
  if (named == nullptr) ::uname(&host);
  const std::string name = named != nullptr ? named : host.nodename;
  return hypervisor::well_formed_machine(name) ? name : "node";
}

/// Once a job is found, `line` names exactly that one: later lookups must not find another, whoever
/// starts one.
tl::expected<control::JobPlace, NoJob> find_same_job(CommandLine& line) {
  auto job = find_job(line.job, line.user);
  if (!job) return job;
  line.job = job->id;
  line.user = std::to_string(job->owner);
  return job;
}

/// An error that leads the command to the same exit code.
tl::unexpected<Error> without_job(const NoJob& why) {
  const bool denied = why.code == ExitCode::kNotPermitted;
  const bool unclear = why.code == ExitCode::kUsage;
  return fail(denied ? Errc::kAuth : unclear ? Errc::kInvalid : Errc::kNotFound, why.text);
}

/// The relay that a card names; "": it listens at an address that this node does not have now, as
/// the card is as old as the dump that it was restored from.
std::string relay_here(const control::MemberCard& card) {
  const std::vector<LocalAddress> here = local_addresses();
  std::string text;
  for (const std::string& each : control::host_ports(card.relay)) {
    const auto place = control::parse_host_port(each);
    const auto ip = place ? parse_ip(place->host) : std::nullopt;
    if (!ip || std::ranges::find(here, *ip, &LocalAddress::ip) == here.end()) return "";
    text += (text.empty() ? "" : ",") + each;
  }
  return text;
}

Result<hypervisor::JobHere> job_here(CommandLine& line) {
  const auto job = find_same_job(line);
  if (!job) return without_job(job.error());
  hypervisor::JobHere here;
  here.id = job->id;
  here.directory = job->directory;
  here.owner = job->owner;
  for (const control::MemberCard& card : job->members.live) {
    here.members.push_back(card.mark.pid);
    here.launched = here.launched || card.rank >= 0;
    here.elsewhere = here.elsewhere || !card.one_node;
    if (here.relay.empty()) here.relay = relay_here(card);
  }
  return here;
}

hypervisor::CriuRequest criu_request(const CommandLine& line) {
  hypervisor::CriuRequest request;
  request.directory = line.vm.directory;
  request.node = node_name();
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  request.job = {failed ? "btlctl" : self.string(), line.job, line.user};
  request.lease = line.lease_or(kCriuLeaseDefault);
  request.timeout = vm_timeout(line);
  const auto& given = line.arguments;
  request.goes_on = std::find(given.begin(), given.end(), kLeaveRunning) != given.end();
  request.dry_run = line.dry_run;
  request.node_command = line.words.empty() ? "" : line.words.front();
  request.hosts = hosts_in(line);
  request.addresses = addresses_in(line);
  const auto named = std::make_shared<CommandLine>(line);
  request.find_job = [named] { return job_here(*named); };
  request.find_nodes = [named]() -> Result<std::vector<std::string>> {
    if (const auto job = find_same_job(*named); !job) return without_job(job.error());
    return nodes_of_job(*named);
  };
  request.still_relay = [named]() -> Result<Fd> {
    const auto job = find_same_job(*named);
    if (!job) return without_job(job.error());
    return pause_relay(*job);
  };
  request.set_clock = hypervisor::continue_clock;
  return request;
}

ExitCode run_node(const CommandLine& line, const std::atomic<bool>&) {
  if (::geteuid() != 0)
    return end_early(line, {ExitCode::kNotPermitted, "CRIU needs root: call this command as root"});
  return static_cast<ExitCode>(hypervisor::serve_node(
      criu_request(line), hypervisor::node_door(STDIN_FILENO, STDOUT_FILENO)));
}

using CriuCall = hypervisor::Report (*)(const hypervisor::CriuRequest&, const std::atomic<bool>&,
                                        const hypervisor::Progress&);

ExitCode run_criu(const CommandLine& line, const std::atomic<bool>& stop, CriuCall call) {
  if (::geteuid() != 0)
    return end_early(line, {ExitCode::kNotPermitted, "CRIU needs root: call this command as root"});
  ProgressLine progress(line);
  const auto show = [&](const std::string& text) { progress.show(printable(text), true); };
  const hypervisor::Report report = call(criu_request(line), stop, show);
  progress.clear();
  return say_report(line, report);
}

ExitCode run_dump(const CommandLine& line, const std::atomic<bool>& stop) {
  return run_criu(line, stop, hypervisor::dump_job);
}

ExitCode run_restart(const CommandLine& line, const std::atomic<bool>& stop) {
  return run_criu(line, stop, hypervisor::restart_job);
}

}  // namespace

const Command kCheckpointRun{
    .name = "run",
    .summary = "Dump a job with CRIU as a sealed set",
    .detail =
        R"(The job leaves its devices and shared memory and is held, and CRIU dumps the launcher and all
processes below it into DIR, which gets its set.json only if all went well. Then the processes are
ended, or with --leave-running go on as before. Needs root. --timeout (900, at least 30) bounds the
whole command; two thirds are for the steps up to the dump. A job on several nodes needs
--node-command: each node writes its file into DIR there, and no process ends before all are dumped.

Examples:
  btlctl checkpoint run --criu monday
  btlctl checkpoint run --criu --leave-running monday
  btlctl checkpoint run --criu --node-command 'ssh {node}' /shared/monday)",
    .define = define_criu_run,
    .conflict = conflict_of_nodes,
    .run = run_dump,
    .foreground = true};

const Command kCheckpointNode{
    .name = "node",
    .summary = "Do one node's part of run and restore; called by them",
    .detail =
        R"(Reads from standard input what run or restore on another node wants dumped or restored here, and
undoes it if the input ends before it is told to go on. Not to be typed by hand.

Example:
  btlctl checkpoint run --criu --node-command 'ssh {node}' monday)",
    .conflict = conflict_of_criu,
    .run = run_node,
    .foreground = true};

const Command kCheckpointRestore{
    .name = "restore",
    .summary = "Restore a job from a set that run made",
    .detail =
        R"(Compares the set with its checksums, has CRIU restore the processes with their old PIDs, and lets
the job go on as a new incarnation. A damaged set is refused (8) before anything is restored, and so
is one whose processes still run here (3). A set of several nodes is restored from one
of them, with --node-command. --on has another host take a node's place; if an address of a node has
changed, --address gives the old and the new one.

Examples:
  btlctl checkpoint restore monday
  btlctl checkpoint restore --node-command 'ssh {node}' --on vm2=vm7 --address 10.0.0.2=10.0.0.7 monday)",
    .define = define_criu_restore,
    .conflict = conflict_of_restart,
    .run = run_restart,
    .foreground = true};

}  // namespace livebtl::tool
