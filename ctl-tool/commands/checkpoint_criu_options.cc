// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/checkpoint_criu_options.cc -- see checkpoint_criu_options.h.
#include "ctl-tool/commands/checkpoint_criu_options.h"

#include <utility>

#include "ctl-tool/commands/vm.h"
#include "ctl-tool/options.h"
#include "hypervisor/set/set_file.h"

namespace livebtl::tool {
namespace {

constexpr double kCriuLeaseMin = 60.0;    // seconds
constexpr double kCriuTimeoutMin = 30.0;  // less leaves no time for the way back

void define_directory(CLI::App& app, CommandLine& line) {
  add_word(app, "DIR", line.vm.directory, "DIRECTORY", "The set's directory")
      ->check(takes_at_most(kVmTextMax));
}

void add_node_command(CLI::App& app, CommandLine& line) {
  app.add_option_function<std::string>(
         "--node-command", [&line](const std::string& command) { line.words = {command}; },
         "How to run a program as root on a node of the job: 'ssh {node}'; needed for a job on "
         "several nodes")
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

}  // namespace

std::map<std::string, std::string> hosts_in(const CommandLine& line) {
  std::map<std::string, std::string> hosts;
  for (const std::string& each : line.hosts) {
    if (auto host = read_host(each)) hosts.insert(std::move(*host));
  }
  return hosts;
}

void define_criu_restore(CLI::App& app, CommandLine& line) {
  define_directory(app, line);
  add_node_command(app, line);
  add_hosts(app, line,
            "Restore the processes of this node of the set on another host; may be repeated");
  add_value(app, "--address", line.addresses, "OLD=NEW",
            "A node's old IP address, and the one it has now; may be repeated")
      ->allow_extra_args(false)
      ->check(checked_by(hypervisor::parse_new_address));
}

void define_criu_run(CLI::App& app, CommandLine& line) {
  define_directory(app, line);
  add_node_command(app, line);
  add_hosts(app, line,
            "The host that a node's processes are on, if not the one of its name, as after a "
            "restore elsewhere; may be repeated");
  app.add_flag_callback(
         "--criu", [] {}, "Use CRIU, the only way there is")
      ->required();
  app.add_flag_callback(
      kLeaveRunning, [&line] { line.arguments.emplace_back(kLeaveRunning); },
      "Let the job go on; otherwise its processes are ended once dumped");
  add_lease(app, line, kCriuLeaseMin, "600",
            "How long the job stays held if this command is killed; more than the dump takes (at "
            "least 60)");
}

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

}  // namespace livebtl::tool
