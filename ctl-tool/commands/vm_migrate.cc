// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/vm_migrate.cc -- vm migrate: what was asked for, handed to hypervisor/.
#include "hypervisor/migrate/migrate_vm.h"

#include <algorithm>

#include "ctl-tool/commands/vm.h"
#include "ctl-tool/options.h"
#include "hypervisor/set/set_file.h"

namespace livebtl::tool {
namespace {

std::string problem_of_uri(const std::string& text) {
  return text.find(':') != std::string::npos ? "" : "it takes a URI, such as tcp:node8:4444";
}

std::string problem_of_card(const std::string& text) {
  return hypervisor::well_formed_id(text)
             ? ""
             : "it takes a device's id, as QEMU has it, not '" + text + "'";
}

std::string problem_of_libvirt_uri(const std::string& text) {
  return is_libvirt_uri(text) ? "" : "it takes a URI of libvirt, such as qemu+ssh://node8/system";
}

CLI::Option* add_text(CLI::App& app, const char* name, std::string& value, const char* type,
                      const char* text) {
  return add_value(app, name, value, type, text)->check(takes_at_most(kVmTextMax));
}

void define_destination(CLI::App& app, VmOptions& vm) {
  CLI::Option* qmp = add_text(app, "--destination-qmp", vm.destination_qmp, "SOCKET",
                              "A QMP monitor of the receiving QEMU, to plug in the cards there");
  CLI::Option* agent =
      add_text(app, "--destination-ga", vm.destination_agent, "SOCKET",
               "The socket of the guest's agent there, to have the job return to its cards");
  qmp->needs(agent);
  agent->needs(qmp);
  add_text(
      app, "--destination-connect", vm.destination_connect, "URI",
      "With --domain: libvirt at the destination, as reached from here; default: as --to gives it")
      ->check(checked(problem_of_libvirt_uri));
}

void define_source(CLI::App& app, VmOptions& vm) {
  add_text(
      app, "--domain", vm.domain, "NAME",
      "The guest's libvirt domain; --connect gives the daemon's URI, if not libvirt's default");
  add_text(app, "--qmp", vm.qmp, "SOCKET",
           "Without libvirt: a QMP monitor of this guest's QEMU (-qmp "
           "unix:SOCKET,server=on,wait=off) that nobody else uses meanwhile");
  add_text(app, "--ga", vm.agent, "SOCKET",
           "Without libvirt: the socket of this guest's agent (qemu-guest-agent)");
}

void define_migrate(CLI::App& app, CommandLine& line) {
  VmOptions& vm = line.vm;
  define_source(app, vm);
  add_text(app, "--to", vm.to, "URI",
           "Destination. With --domain: libvirt there, as the daemon here reaches it; with --qmp: "
           "as QEMU's migrate takes it, tcp:HOST:PORT or unix:PATH")
      ->required()
      ->check(checked(problem_of_uri));
  add_value(
      app, "--card", vm.cards, "ID",
      "A device to unplug first, by its id (with --domain: its alias); several in the order given")
      ->required()
      ->allow_extra_args(false)
      ->check(checked(problem_of_card));
  add_value(app, "--card-args", vm.card_arguments, "JSON",
            "How to plug a card back in: an object of device_add's arguments (with --domain: of "
            "driver, id and xml); default: ask the hypervisor")
      ->allow_extra_args(false)
      ->check(takes_at_most(kVmTextMax))
      ->check(checked_by(hypervisor::read_card_arguments));
  define_destination(app, vm);
  add_guest_btlctl(app, line);
  add_ignored(app, "--lease");
  app.add_flag("--disks-are-mine")->group("");
}

std::string problem_of_cards(const VmOptions& vm) {
  if (vm.cards.size() > hypervisor::kCardsMax) return "there are at most 64 cards";
  for (auto card = vm.cards.begin(); card != vm.cards.end(); ++card) {
    if (std::find(vm.cards.begin(), card, *card) != card)
      return "--card " + *card + " is given twice";
  }
  for (const std::string& text : vm.card_arguments) {
    const auto arguments = hypervisor::read_card_arguments(text);
    const std::string id = arguments ? hypervisor::text_member(*arguments, "id") : "";
    if (std::find(vm.cards.begin(), vm.cards.end(), id) == vm.cards.end())
      return "--card-args are of '" + id + "', which no --card names";
  }
  return "";
}

/// A guest is named by libvirt's domain or by QEMU's sockets.
std::string problem_of_kind(const VmOptions& vm) {
  if (vm.domain.empty()) {
    if (vm.qmp.empty() || vm.agent.empty())
      return "--domain is required, or --qmp and --ga: which guest is to be migrated?";
    return vm.destination_connect.empty() ? "" : "--destination-connect goes with --domain";
  }
  if (!vm.qmp.empty() || !vm.agent.empty() || !vm.destination_qmp.empty())
    return "--domain goes without --qmp and --ga: libvirt alone speaks to its QEMUs";
  return problem_of_libvirt_uri(vm.to).empty() ? "" : "--to: " + problem_of_libvirt_uri(vm.to);
}

/// A monitor serves one client, and after the migration only the QEMU at the destination has a guest.
std::string conflict_of_migrate(const CommandLine& line) {
  const VmOptions& vm = line.vm;
  if (std::string wrong = problem_of_globals(line, !vm.domain.empty()); !wrong.empty())
    return wrong;
  if (std::string wrong = problem_of_kind(vm); !wrong.empty()) return wrong;
  const auto same = [](const std::string& here, const std::string& there) {
    return !there.empty() && one_name(here) == one_name(there);
  };
  if (same(vm.qmp, vm.destination_qmp))
    return "--qmp and --destination-qmp are the same monitor, " + vm.qmp +
           "; the QEMU that receives is another one";
  if (same(vm.agent, vm.destination_agent))
    return "--ga and --destination-ga are the same socket, " + vm.agent +
           "; the QEMU that receives has one of its own";
  return problem_of_cards(vm);
}

hypervisor::MigrateRequest migrate_request(const CommandLine& line,
                                           const hypervisor::Hypervisor& hypervisor) {
  const VmOptions& vm = line.vm;
  hypervisor::MigrateRequest request;
  request.hypervisor = &hypervisor;
  request.source = {vm.qmp, vm.agent, ""};
  request.destination = {vm.destination_qmp, vm.destination_agent, ""};
  if (!vm.domain.empty()) {
    request.source = {line.connect, "", vm.domain};
    request.destination = {vm.destination_connect.empty() ? vm.to : vm.destination_connect, "",
                           vm.domain};
  }
  request.to = line.vm.to;
  request.cards = line.vm.cards;
  for (const std::string& text : line.vm.card_arguments) {
    if (auto arguments = hypervisor::read_card_arguments(text))
      request.card_arguments.push_back(std::move(*arguments));
  }
  request.guest = {line.vm.guest_btlctl, line.job};
  request.timeout = vm_timeout(line);
  request.dry_run = line.dry_run;
  return request;
}

ExitCode migrate(const CommandLine& line, const std::atomic<bool>& stop) {
  const auto call = [&](const hypervisor::Hypervisor& hypervisor,
                        const hypervisor::Progress& progress) {
    return hypervisor::migrate_vm(migrate_request(line, hypervisor), stop, progress);
  };
  return run_vm(line, "vm migrate", !line.vm.domain.empty(), call);
}

}  // namespace

const Command kVmMigrate{
    .name = "migrate",
    .summary = "Migrate a guest live, without the cards of its job",
    .detail =
        R"(Has the job in the guest leave its cards, through the guest's agent and the guest's own btlctl;
unplugs them, migrates the guest live, and follows the migration. On a failure or Ctrl-C before the
migration is completed, the cards are plugged back in, and the job returns to them. Afterwards the
job stays on what moved with the guest until cards are plugged in at the destination; this command
does that too if it can reach the destination.

Examples:
  btlctl vm migrate --qmp vm1.qmp --ga vm1.agent --to tcp:node8:4444 --card hca0
  btlctl vm migrate --domain vm1 --to qemu+ssh://node8/system --card hostdev0
  btlctl --dry-run vm migrate --qmp vm1.qmp --ga vm1.agent --to tcp:node8:4444 --card hca0)",
    .define = define_migrate,
    .conflict = conflict_of_migrate,
    .run = migrate,
    .foreground = true};

}  // namespace livebtl::tool
