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

CLI::Option* add_text(CLI::App& app, const char* name, std::string& value, const char* type,
                      const char* text) {
  return add_value(app, name, value, type, text)->check(takes_at_most(kVmTextMax));
}

void define_destination(CLI::App& app, VmOptions& vm) {
  CLI::Option* qmp =
      add_text(app, "--destination-qmp", vm.destination_qmp, "SOCKET",
               "A QMP monitor of the QEMU that receives: cards are plugged in there");
  CLI::Option* agent =
      add_text(app, "--destination-ga", vm.destination_agent, "SOCKET",
               "The socket of the guest's agent there: the job is told to return to its cards");
  qmp->needs(agent);
  agent->needs(qmp);
}

void define_migrate(CLI::App& app, CommandLine& line) {
  VmOptions& vm = line.vm;
  add_text(app, "--qmp", vm.qmp, "SOCKET",
           "A QMP monitor of this guest's QEMU (-qmp unix:SOCKET,server=on,wait=off), which nobody "
           "else uses meanwhile")
      ->required();
  add_text(app, "--ga", vm.agent, "SOCKET", "The socket of this guest's agent (qemu-guest-agent)")
      ->required();
  add_text(app, "--to", vm.to, "URI",
           "Where to, as QEMU's migrate takes it: tcp:HOST:PORT, unix:PATH")
      ->required()
      ->check(checked(problem_of_uri));
  add_value(app, "--card", vm.cards, "ID",
            "A device to unplug before, by its id; several in the order given")
      ->required()
      ->allow_extra_args(false)
      ->check(checked(problem_of_card));
  add_value(app, "--card-args", vm.card_arguments, "JSON",
            "How to plug a card in again: an object of device_add's arguments; without it QEMU is "
            "asked")
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

/// A monitor serves one client, and after the migration only the QEMU at the destination has a guest.
std::string conflict_of_migrate(const CommandLine& line) {
  const VmOptions& vm = line.vm;
  if (std::string wrong = problem_of_globals(line); !wrong.empty()) return wrong;
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

hypervisor::MigrateRequest migrate_request(const CommandLine& line) {
  hypervisor::MigrateRequest request;
  request.qmp = line.vm.qmp;
  request.agent = line.vm.agent;
  request.to = line.vm.to;
  request.cards = line.vm.cards;
  for (const std::string& text : line.vm.card_arguments) {
    if (auto arguments = hypervisor::read_card_arguments(text))
      request.card_arguments.push_back(std::move(*arguments));
  }
  request.destination_qmp = line.vm.destination_qmp;
  request.destination_agent = line.vm.destination_agent;
  request.guest = {line.vm.guest_btlctl, line.job};
  request.timeout = vm_timeout(line);
  request.dry_run = line.dry_run;
  return request;
}

ExitCode migrate(const CommandLine& line, const std::atomic<bool>& stop) {
  return run_vm(line, [&](const hypervisor::Progress& progress) {
    return hypervisor::migrate_vm(migrate_request(line), stop, progress);
  });
}

}  // namespace

const Command kVmMigrate{
    .name = "migrate",
    .summary = "Migrate a guest live, without the cards of its job",
    .detail =
        R"(Has the job in the guest leave its cards, by the guest's agent and the guest's own btlctl; unplugs
them, migrates the guest live, and follows it. A failure before the migration is completed, or
Ctrl-C, is taken back: the cards are plugged in again, and the job returns to them. Afterwards the
job stays on what moved with the guest, until cards are plugged in at the destination; this command
does that too if it can reach the destination.

Examples:
  btlctl vm migrate --qmp vm1.qmp --ga vm1.agent --to tcp:node8:4444 --card hca0
  btlctl --dry-run vm migrate --qmp vm1.qmp --ga vm1.agent --to tcp:node8:4444 --card hca0)",
    .define = define_migrate,
    .conflict = conflict_of_migrate,
    .run = migrate,
    .foreground = true};

}  // namespace livebtl::tool
