// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/vm_set.cc -- vm snapshot | restore: all machines of a job as one set.
#include <algorithm>
#include <map>
#include <set>

#include "ctl-tool/commands/vm.h"
#include "ctl-tool/commands/vm_series.h"
#include "ctl-tool/options.h"
#include "hypervisor/restore/restore_vms.h"
#include "hypervisor/snapshot/snapshot_vms.h"

namespace livebtl::tool {
namespace {

using hypervisor::MachinePlace;

/// "": it is added.
std::string add_part(MachinePlace& machine, const std::string& part) {
  const std::string key = part.substr(0, part.find('='));
  const std::string value = key.size() < part.size() ? part.substr(key.size() + 1) : "";
  std::string* const text = key == "qmp" || key == "connect" ? &machine.place.monitor
                            : key == "ga"                    ? &machine.place.agent
                            : key == "domain"                ? &machine.place.domain
                                                             : nullptr;
  if (value.empty() || (text == nullptr && key != "card")) return "'" + part + "' has no meaning";
  if (key == "connect" && !is_libvirt_uri(value)) return "connect takes a URI of libvirt";
  if (text != nullptr) {
    if (!text->empty()) return key + " is given twice";
    *text = value;
    return "";
  }
  const bool twice =
      std::find(machine.cards.begin(), machine.cards.end(), value) != machine.cards.end();
  if (!hypervisor::well_formed_id(value) || twice || machine.cards.size() == hypervisor::kCardsMax)
    return "card takes a device's id, as QEMU has it, once";
  machine.cards.push_back(value);
  return "";
}

}  // namespace

Result<MachinePlace> read_machine(const std::string& text) {
  MachinePlace machine;
  machine.name = text.substr(0, text.find(','));
  std::string wrong;
  if (!hypervisor::well_formed_machine(machine.name))
    wrong = "a name begins with a letter, and has letters, digits, '-', '_', '.'";
  for (std::size_t at = machine.name.size(); wrong.empty() && at < text.size();) {
    const std::size_t end = std::min(text.find(',', at + 1), text.size());
    wrong = add_part(machine, text.substr(at + 1, end - at - 1));
    at = end;
  }
  const hypervisor::VmPlace& place = machine.place;
  if (wrong.empty() && place.domain.empty() &&
      (place.monitor.empty() || is_libvirt_uri(place.monitor)))
    wrong = "domain= is missing, or qmp=";
  if (wrong.empty() && !place.domain.empty() &&
      (!place.agent.empty() || !(place.monitor.empty() || is_libvirt_uri(place.monitor))))
    wrong = "domain= goes without qmp= and ga=";
  if (wrong.empty()) return machine;
  return fail(
      Errc::kInvalid,
      "'" + text + "': " + wrong +
          "; it takes NAME,domain=DOMAIN,card=ID,... or NAME,qmp=SOCKET,ga=SOCKET,card=ID,...");
}

namespace {

void define_set_of_machines(CLI::App& app, CommandLine& line, const char* text) {
  add_word(app, "DIR", line.vm.directory, "DIRECTORY", "The set's directory")
      ->check(takes_at_most(kVmTextMax));
  add_value(app, "--vm", line.vm.machines, "NAME,domain=DOMAIN", text)
      ->required()
      ->allow_extra_args(false)
      ->check(takes_at_most(kVmTextMax))
      ->check(checked_by(read_machine));
  add_guest_btlctl(app, line);
}

void define_snapshot(CLI::App& app, CommandLine& line) {
  define_set_of_machines(
      app, line,
      "For each machine of the job: its name in the set, its libvirt domain (connect=URI: of which "
      "daemon, if not that of --connect), and with card=ALIAS,... the devices to unplug first; "
      "without libvirt qmp=SOCKET,ga=SOCKET: its QMP monitor and its guest agent");
  add_lease(app, line, static_cast<double>(hypervisor::kLeaseMin) / 1e9, "300",
            "How long the job stays held if this command is killed; more than saving one machine "
            "takes (at least 60)");
  app.add_flag("--disks-are-mine", line.vm.disks_are_mine,
               "Go on although guests have writable disks; you snapshot those at the same moments");
  define_series(app, line);
}

void define_restore(CLI::App& app, CommandLine& line) {
  define_set_of_machines(
      app, line,
      "For each machine of the job: its name in the set, and its libvirt domain, or without "
      "libvirt qmp=SOCKET,ga=SOCKET; the set knows the cards");
  add_ignored(app, "--lease");
  app.add_flag("--disks-are-mine")->group("");
}

std::vector<MachinePlace> machines_of(const CommandLine& line) {
  std::vector<MachinePlace> machines;
  for (const std::string& text : line.vm.machines) {
    auto machine = read_machine(text);
    if (!machine) continue;
    if (!machine->place.domain.empty() && machine->place.monitor.empty())
      machine->place.monitor = line.connect;
    machines.push_back(std::move(*machine));
  }
  return machines;
}

bool by_libvirt(const std::vector<MachinePlace>& machines) {
  return std::any_of(machines.begin(), machines.end(),
                     [](const MachinePlace& machine) { return !machine.place.domain.empty(); });
}

/// What tells two machines apart.
std::string identity_of(const MachinePlace& machine) {
  const hypervisor::VmPlace& place = machine.place;
  return place.domain.empty() ? one_name(place.monitor) : place.monitor + " " + place.domain;
}

/// A monitor serves one client: the second --vm would wait for the first until its time is up.
std::string problem_of_twins(const std::vector<MachinePlace>& machines) {
  std::set<std::string> names;
  std::map<std::string, std::string> monitors;  // ... to their machines
  for (const MachinePlace& machine : machines) {
    if (!names.insert(machine.name).second) return "--vm " + machine.name + " is given twice";
    const auto [twin, fresh] = monitors.try_emplace(identity_of(machine), machine.name);
    if (!fresh && machine.place.domain.empty())
      return "--vm " + twin->second + " and --vm " + machine.name +
             " have the same qmp=" + machine.place.monitor +
             "; each machine has a monitor of its own";
    if (!fresh)
      return "--vm " + twin->second + " and --vm " + machine.name + " are the same domain, " +
             machine.place.domain;
  }
  return "";
}

std::string conflict_of_snapshot(const CommandLine& line) {
  const std::vector<MachinePlace> machines = machines_of(line);
  const bool domains = by_libvirt(machines);
  if (std::string wrong = problem_of_globals(line, domains); !wrong.empty()) return wrong;
  const bool all = std::all_of(machines.begin(), machines.end(), [](const MachinePlace& machine) {
    return !machine.place.domain.empty();
  });
  if (domains && !all) return "name all machines as domains of libvirt, or none";
  if (machines.size() > hypervisor::kMachinesMax) return "there are at most 1024 machines";
  if (std::string wrong = problem_of_twins(machines); !wrong.empty()) return wrong;
  if (std::string wrong = problem_of_series(line); !wrong.empty()) return wrong;
  const bool speaks =
      std::any_of(machines.begin(), machines.end(),
                  [](const MachinePlace& machine) { return !machine.place.agent.empty(); });
  return speaks || domains ? ""
                           : "at least one --vm needs ga=SOCKET: there the job is told what to do";
}

std::string conflict_of_restore(const CommandLine& line) {
  for (const MachinePlace& machine : machines_of(line)) {
    if (!machine.cards.empty())
      return "--vm " + machine.name + ": give no card=; the set knows which cards it had";
  }
  return conflict_of_snapshot(line);
}

hypervisor::SetRequest set_request(const CommandLine& line,
                                   const hypervisor::Hypervisor* hypervisor = nullptr) {
  hypervisor::SetRequest request;
  request.hypervisor = hypervisor;
  request.directory = line.vm.directory;
  request.machines = machines_of(line);
  request.guest = {line.vm.guest_btlctl, line.job};
  request.lease = line.lease_or(300.0);
  request.timeout = vm_timeout(line);
  request.ignores_disks = line.vm.disks_are_mine;
  request.dry_run = line.dry_run;
  return request;
}

ExitCode snapshot(const CommandLine& line, const std::atomic<bool>& stop) {
  const bool libvirt = by_libvirt(machines_of(line));
  if (line.vm.keep != 0) return run_series(line, set_request(line), libvirt, stop);
  const auto call = [&](const hypervisor::Hypervisor& hypervisor,
                        const hypervisor::Progress& progress) {
    return hypervisor::snapshot_vms(set_request(line, &hypervisor), stop, progress);
  };
  return run_vm(line, "vm snapshot", libvirt, call);
}

ExitCode restore(const CommandLine& line, const std::atomic<bool>& stop) {
  const auto call = [&](const hypervisor::Hypervisor& hypervisor,
                        const hypervisor::Progress& progress) {
    return hypervisor::restore_vms(set_request(line, &hypervisor), stop, progress);
  };
  return run_vm(line, "vm restore", by_libvirt(machines_of(line)), call);
}

}  // namespace

const Command kVmSnapshot{
    .name = "snapshot",
    .summary = "Save all machines of a job as one set",
    .detail =
        R"(Saves the memory of all machines of a job into DIR, while the job is held (hold). DIR gets its
set.json only if the job was held throughout; otherwise (8) nothing is left of the set. Afterwards
all files are read from the disk and compared with their checksums.

With --keep, DIR holds many sets, each in a directory named by the time. Older sets are removed only
when the new one is verified.

Examples:
  btlctl vm snapshot monday --vm vm1,qmp=1.qmp,ga=1.agent,card=hca0 --vm vm2,qmp=2.qmp,ga=2.agent
  btlctl vm snapshot sets --every 30m --keep 4 --vm vm1,qmp=1.qmp,ga=1.agent)",
    .define = define_snapshot,
    .conflict = conflict_of_snapshot,
    .run = snapshot,
    .foreground = true};

const Command kVmRestore{
    .name = "restore",
    .summary = "Continue a job from a set",
    .detail =
        R"(Loads a set into QEMUs that wait for it (-incoming defer -S, without the cards), and lets the job go
on. A set that does not fit together is refused (8), and its machines are stopped; a set with a
damaged file is refused before anything is loaded.

Example:
  btlctl vm restore monday --vm vm1,qmp=1.qmp,ga=1.agent --vm vm2,qmp=2.qmp,ga=2.agent)",
    .define = define_restore,
    .conflict = conflict_of_restore,
    .run = restore,
    .foreground = true};

}  // namespace livebtl::tool
