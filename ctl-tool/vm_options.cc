// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/vm_options.cc -- see vm_options.h.
#include "ctl-tool/vm_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>

#include "ctl-tool/vm_machine.h"

namespace livebtl::tool {
namespace {

constexpr std::size_t kTextBytesMax = 4096;

bool too_long_for_vm(const VmOptions& options) {
  const auto longer = [](const std::string& text) { return text.size() > kTextBytesMax; };
  return longer(options.qmp) || longer(options.agent) || longer(options.to) ||
         longer(options.destination_qmp) || longer(options.destination_agent) ||
         longer(options.guest_btlctl) || longer(options.directory) ||
         std::any_of(options.machines.begin(), options.machines.end(), longer) ||
         std::any_of(options.card_arguments.begin(), options.card_arguments.end(), longer);
}

std::string problem_of_cards(const VmOptions& options) {
  if (options.cards.size() > hypervisor::kCardsMax) return "there are at most 64 cards";
  for (auto card = options.cards.begin(); card != options.cards.end(); ++card) {
    if (!hypervisor::well_formed_id(*card))
      return "--card takes a device's id, as QEMU has it, not '" + *card + "'";
    if (std::find(options.cards.begin(), card, *card) != card)
      return "--card " + *card + " is given twice";
  }
  for (const std::string& text : options.card_arguments) {
    const auto arguments = hypervisor::read_card_arguments(text);
    if (!arguments) return arguments.error().text;
    const std::string id = hypervisor::text_member(*arguments, "id");
    if (std::find(options.cards.begin(), options.cards.end(), id) == options.cards.end())
      return "--card-args are of '" + id + "', which no --card names";
  }
  return "";
}

/// The same socket by whatever name: a link, or another way there.
std::string one_name(const std::string& path) {
  std::error_code failed;
  const auto whole = std::filesystem::absolute(path, failed);
  if (failed) return path;
  const auto plain = std::filesystem::weakly_canonical(whole, failed);
  return failed ? path : plain.string();
}

/// A monitor serves one client, and after the migration the destination's QEMU alone has a guest.
std::string problem_of_destination(const VmOptions& options) {
  if (options.destination_qmp.empty() != options.destination_agent.empty())
    return "--destination-qmp and --destination-ga are given together, or not at all";
  if (options.destination_qmp.empty()) return "";
  const auto same = [](const std::string& here, const std::string& there) {
    return one_name(here) == one_name(there);
  };
  if (same(options.qmp, options.destination_qmp))
    return "--qmp and --destination-qmp are the same monitor, " + options.qmp +
           "; the QEMU that receives is another one";
  if (same(options.agent, options.destination_agent))
    return "--ga and --destination-ga are the same socket, " + options.agent +
           "; the QEMU that receives has one of its own";
  return "";
}

std::string problem_of_migration(const VmOptions& options) {
  if (!options.directory.empty() || !options.machines.empty())
    return "vm migrate takes one guest, by --qmp and --ga; --vm and a directory are for snapshot "
           "and restore";
  if (options.qmp.empty() || options.agent.empty() || options.to.empty() || options.cards.empty())
    return "vm migrate needs --qmp, --ga, --to and at least one --card";
  if (std::string wrong = problem_of_destination(options); !wrong.empty()) return wrong;
  if (options.to.find(':') == std::string::npos) return "--to takes a URI, such as tcp:node8:4444";
  return problem_of_cards(options);
}

/// A monitor serves one client: the second --vm would wait for the first until its time is up.
std::string problem_of_monitors(const std::vector<hypervisor::MachinePlace>& machines) {
  std::vector<std::string> monitors;
  for (const hypervisor::MachinePlace& machine : machines) {
    std::string monitor = one_name(machine.qmp);
    const auto same = std::find(monitors.begin(), monitors.end(), monitor);
    if (same != monitors.end())
      return "--vm " + machines[static_cast<std::size_t>(same - monitors.begin())].name +
             " and --vm " + machine.name + " have the same qmp=" + machine.qmp +
             "; each machine has a monitor of its own";
    monitors.push_back(std::move(monitor));
  }
  return "";
}

std::string problem_of_machines(const VmOptions& options, bool restores) {
  if (options.machines.size() > hypervisor::kMachinesMax) return "there are at most 1024 machines";
  std::vector<std::string> names;
  std::vector<hypervisor::MachinePlace> machines;
  bool speaks = false;
  for (const std::string& text : options.machines) {
    const auto machine = read_machine(text);
    if (!machine) return machine.error().text;
    if (std::find(names.begin(), names.end(), machine->name) != names.end())
      return "--vm " + machine->name + " is given twice";
    if (restores && !machine->cards.empty())
      return "--vm " + machine->name + ": which cards it had the set says; give no card=";
    names.push_back(machine->name);
    speaks = speaks || !machine->agent.empty();
    machines.push_back(*machine);
  }
  if (!speaks) return "at least one --vm needs ga=SOCKET: there the job is told what to do";
  return problem_of_monitors(machines);
}

std::string problem_of_set(const std::string& action, const VmOptions& options) {
  const std::string verb = "vm " + action;
  if (!options.qmp.empty() || !options.agent.empty() || !options.to.empty() ||
      !options.cards.empty() || !options.card_arguments.empty() ||
      !options.destination_qmp.empty() || !options.destination_agent.empty())
    return verb + " takes its guests as --vm NAME,qmp=SOCKET,ga=SOCKET,card=ID";
  if (options.directory.empty() || options.machines.empty())
    return verb + " needs a directory, and a --vm for each of the job's machines";
  const double least = static_cast<double>(hypervisor::kLeaseMin) / 1e9;
  if (!(options.lease_s >= least && options.lease_s <= 86'400.0))
    return "--lease takes seconds, from 60 to 86400";
  return problem_of_machines(options, action == "restore");
}

template <class Value>
CLI::Option* add_option(CLI::App& command, const char* name, Value& value, const char* type,
                        const char* text) {
  return command.add_option(name, value, text)->type_name(type);
}

void add_migration_options(CLI::App& command, VmOptions& options) {
  add_option(
      command, "--qmp", options.qmp, "SOCKET",
      "A QMP monitor of this guest's QEMU (-qmp unix:SOCKET,server=on,wait=off), used by nobody "
      "else meanwhile");
  add_option(command, "--ga", options.agent, "SOCKET",
             "The socket of this guest's agent (qemu-guest-agent)");
  add_option(command, "--to", options.to, "URI",
             "Where to, as QEMU's migrate takes it: tcp:HOST:PORT, unix:PATH");
  add_option(command, "--card", options.cards, "ID",
             "A device to unplug before, by its id; several in the order given")
      ->allow_extra_args(false);
  add_option(
      command, "--card-args", options.card_arguments, "JSON",
      "How to plug a card in again, as one object of device_add's arguments; without it QEMU is "
      "asked")
      ->allow_extra_args(false);
  add_option(command, "--destination-qmp", options.destination_qmp, "SOCKET",
             "A QMP monitor of the QEMU that receives: cards are plugged in there");
  add_option(command, "--destination-ga", options.destination_agent, "SOCKET",
             "The socket of the guest's agent there: the job is told to return to its cards");
}

void add_set_options(CLI::App& command, VmOptions& options) {
  command.add_option("DIR", options.directory, "With snapshot and restore: the set's directory")
      ->type_name(" ");
  add_option(
      command, "--vm", options.machines, "NAME,qmp=SOCKET,ga=SOCKET,card=ID...",
      "With snapshot and restore, for each of the job's machines: its name in the set, its QMP "
      "monitor, its guest agent's socket, and the devices to unplug before (restore knows them)")
      ->allow_extra_args(false);
  add_option(
      command, "--lease", options.lease_s, "SECONDS",
      "With snapshot: how long the job stays held if this command is killed; longer than the "
      "saving of one machine takes (from 60)")
      ->capture_default_str();
  command.add_flag(
      "--disks-are-mine", options.disks_are_mine,
      "With snapshot: go on although guests have writable disks, which you snapshot at "
      "the same moments");
}

}  // namespace

void add_vm_options(CLI::App& command, VmOptions& options) {
  add_migration_options(command, options);
  add_set_options(command, options);
  add_option(command, "--guest-btlctl", options.guest_btlctl, "PATH", "btlctl in the guest")
      ->capture_default_str();
}

std::string vm_problem(const std::string& action, bool wait, const VmOptions& options) {
  if (action != "migrate" && action != "snapshot" && action != "restore")
    return "vm takes migrate, snapshot or restore";
  if (!wait) return "vm waits: whoever calls it must know how it ended";
  if (too_long_for_vm(options)) return "an argument is longer than 4096 bytes";
  return action == "migrate" ? problem_of_migration(options) : problem_of_set(action, options);
}

}  // namespace livebtl::tool
