// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/checkpoint_criu.cc -- checkpoint run | restore: a job of this node, dumped by CRIU as a sealed set, and
// restored from it (docs/CRIU.md). Run by btlctl's one thread; owns nothing.
#include "ctl-tool/commands/checkpoint_criu.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

#include "control/client/relay_address.h"
#include "ctl-tool/choose_job.h"
#include "ctl-tool/commands/job_nodes.h"
#include "ctl-tool/commands/relay_pause.h"
#include "ctl-tool/commands/vm.h"
#include "ctl-tool/options.h"
#include "ctl-tool/progress_line.h"
#include "ctl-tool/say.h"
#include "hypervisor/criu/node_side.h"

namespace livebtl::tool {
namespace {

constexpr const char* kLeaveRunning = "--leave-running";
constexpr double kCriuLeaseMin = 60.0;  // seconds
constexpr double kCriuLeaseDefault = 600.0;
constexpr double kCriuTimeoutMin = 30.0;  // else a way back would have no time

void define_directory(CLI::App& app, CommandLine& line) {
  add_word(app, "DIR", line.vm.directory, "DIRECTORY", "The set's directory")
      ->check(takes_at_most(kVmTextMax));
}

void add_node_command(CLI::App& app, CommandLine& line) {
  app.add_option_function<std::string>(
         "--node-command", [&line](const std::string& command) { line.words = {command}; },
         "How a program is run as root on a node of the job: 'ssh {node}'; without: the job is on "
         "this node alone")
      ->type_name("COMMAND")
      ->check(takes_at_most(kVmTextMax));
}

/// "vm2=vm7".
Result<std::pair<std::string, std::string>> read_host(const std::string& text) {
  const auto middle = text.find('=');
  std::string node = text.substr(0, middle);
  std::string host = middle == std::string::npos ? "" : text.substr(middle + 1);
  if (hypervisor::well_formed_machine(node) && hypervisor::well_formed_machine(host))
    return std::pair(std::move(node), std::move(host));
  return fail(Errc::kInvalid, "it takes NODE=HOST, names of two nodes, as in vm2=vm7");
}

void add_hosts(CLI::App& app, CommandLine& line, const char* text) {
  add_value(app, "--on", line.hosts, "NODE=HOST", text)
      ->allow_extra_args(false)
      ->check(checked([](const std::string& given) {
        const auto host = read_host(given);
        return host ? "" : host.error().text;
      }));
}

void define_restart(CLI::App& app, CommandLine& line) {
  define_directory(app, line);
  add_node_command(app, line);
  add_hosts(app, line,
            "Another host that is to have the processes of a node of the set; may be repeated");
  add_value(app, "--address", line.addresses, "OLD=NEW",
            "An IP address of a node, and the one that it has now; may be repeated")
      ->allow_extra_args(false)
      ->check(checked_by(hypervisor::parse_new_address));
}

void define_run(CLI::App& app, CommandLine& line) {
  define_directory(app, line);
  add_node_command(app, line);
  add_hosts(
      app, line,
      "Where the processes of a node are, if it is not the host of its name, as after a restore "
      "elsewhere; may be repeated");
  app.add_flag_callback(
         "--criu", [] {}, "By CRIU, the only way there is")
      ->required();
  app.add_flag_callback(
      kLeaveRunning, [&line] { line.arguments.emplace_back(kLeaveRunning); },
      "The job goes on; without: its processes are ended once they are dumped");
  add_lease(app, line, kCriuLeaseMin, "600",
            "How long the job stays held if this command is killed; longer than the dump takes "
            "(from 60)");
}

/// They were checked.
std::vector<hypervisor::NewAddress> addresses_in(const CommandLine& line) {
  std::vector<hypervisor::NewAddress> addresses;
  for (const std::string& each : line.addresses) {
    if (const auto address = hypervisor::parse_new_address(each)) addresses.push_back(*address);
  }
  return addresses;
}

std::string conflict_of_criu(const CommandLine& line) {
  if (!line.connect.empty())
    return "--connect is not possible: CRIU runs where the job's processes are";
  if (line.timeout_s && *line.timeout_s < kCriuTimeoutMin)
    return "it takes a --timeout of 30 s at least: a third of it is kept for the way back";
  if (!line.words.empty() && line.words.front().find("{node}") == std::string::npos)
    return "--node-command needs {node}, where a node's name goes: 'ssh {node}'";
  return "";
}

std::string conflict_of_nodes(const CommandLine& line) {
  if (std::string conflict = conflict_of_criu(line); !conflict.empty()) return conflict;
  if (!line.hosts.empty() && line.words.empty())
    return "--on is for a job of several nodes, and takes --node-command";
  std::map<std::string, std::string> hosts;
  for (const std::string& each : line.hosts) {
    const auto host = read_host(each);
    if (host && !hosts.insert(*host).second)
      return "--on: the processes of " + host->first + " cannot be on two hosts";
  }
  return "";
}

std::string conflict_of_restart(const CommandLine& line) {
  if (std::string conflict = conflict_of_nodes(line); !conflict.empty()) return conflict;
  const auto distinct = hypervisor::check_new_addresses(addresses_in(line));
  return distinct ? "" : "--address: " + distinct.error().text;
}

/// What the job's file in the set is called after.
std::string node_name() {
  const char* const named = ::secure_getenv("LIVEBTL_NODE");
  utsname host{};
  if (named == nullptr) ::uname(&host);
  const std::string name = named != nullptr ? named : host.nodename;
  return hypervisor::well_formed_machine(name) ? name : "node";
}

/// Once a job was found it is named as that one: what is looked up later must not be another's, whoever starts one.
tl::expected<control::JobPlace, NoJob> find_same_job(CommandLine& line) {
  auto job = find_job(line.job, line.user);
  if (!job) return job;
  line.job = job->id;
  line.user = std::to_string(job->owner);
  return job;
}

/// So that the command ends with the same code in the end.
tl::unexpected<Error> without_job(const NoJob& why) {
  const bool denied = why.code == ExitCode::kNotPermitted;
  const bool unclear = why.code == ExitCode::kUsage;
  return fail(denied ? Errc::kAuth : unclear ? Errc::kInvalid : Errc::kNotFound, why.text);
}

/// Of a relay that a card names, unless it listens at no address that this node has today: then the card is as old as the
/// dump that it was restored from.
std::string relay_here(const control::MemberCard& card) {
  const std::vector<LocalAddress> here = local_addresses();
  std::string text;
  for (const std::string& each : control::host_ports(card.relay)) {
    const auto place = control::parse_host_port(each);
    const auto ip = place ? parse_ip(place->host) : std::nullopt;
    if (ip && std::ranges::find(here, *ip, &LocalAddress::ip) != here.end())
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
  for (const std::string& each : line.hosts) {
    if (auto host = read_host(each)) request.hosts.insert(std::move(*host));
  }
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
    return end_early(line, {ExitCode::kNotPermitted, "CRIU takes root: call this command as root"});
  return static_cast<ExitCode>(hypervisor::serve_node(
      criu_request(line), hypervisor::node_door(STDIN_FILENO, STDOUT_FILENO)));
}

using CriuCall = hypervisor::Report (*)(const hypervisor::CriuRequest&, const std::atomic<bool>&,
                                        const hypervisor::Progress&);

ExitCode run_criu(const CommandLine& line, const std::atomic<bool>& stop, CriuCall call) {
  if (::geteuid() != 0)
    return end_early(line, {ExitCode::kNotPermitted, "CRIU takes root: call this command as root"});
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
    .summary = "Dump a job by CRIU, as a sealed set",
    .detail =
        R"(The job leaves its devices and shared memory, is held, and CRIU dumps the launcher and all that is
below it into DIR, which gets its set.json only if all went well. Then the processes are ended, or
with --leave-running go on as before. Takes root. --timeout (900, at least 30) bounds all of it: two
thirds are for the way to the dump. A job on several nodes takes --node-command: each node writes
its file into a directory of that name, and the processes end once all nodes have dumped theirs.

Examples:
  btlctl checkpoint run --criu monday
  btlctl checkpoint run --criu --leave-running monday
  btlctl checkpoint run --criu --node-command 'ssh {node}' /shared/monday)",
    .define = define_run,
    .conflict = conflict_of_nodes,
    .run = run_dump,
    .foreground = true};

const Command kCheckpointNode{
    .name = "node",
    .summary = "The part of run and restore on one node, which they call",
    .detail =
        R"(Is told on its input, by run or restore on another node, what to dump or restore here; when that
ends, before it was told to go, all is as it was. Nothing for people to type.

Example:
  btlctl checkpoint run --criu --node-command 'ssh {node}' monday)",
    .conflict = conflict_of_criu,
    .run = run_node,
    .foreground = true};

const Command kCheckpointRestore{
    .name = "restore",
    .summary = "Have a job go on from a set that run has made",
    .detail =
        R"(Compares the set with its checksums, restores the processes by CRIU, with the numbers that they had,
and has the job go on as a new incarnation. A damaged set is refused (8) before anything is
restored, and so is one whose processes still run here (3). A set of several nodes takes
--node-command, on one of them. --on has another host take a node's place; where an address of a
node is another one now, --address tells both.

Examples:
  btlctl checkpoint restore monday
  btlctl checkpoint restore --node-command 'ssh {node}' --on vm2=vm7 --address 10.0.0.2=10.0.0.7 monday)",
    .define = define_restart,
    .conflict = conflict_of_restart,
    .run = run_restart,
    .foreground = true};

}  // namespace livebtl::tool
