// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/vm_command.cc -- vm migrate | snapshot | restore: what was asked for, handed to
// hypervisor/, and what came of it. Run by btlctl's one thread; owns nothing.
#include <array>
#include <cstdio>

#include "ctl-tool/commands.h"
#include "ctl-tool/progress_line.h"
#include "ctl-tool/say.h"
#include "ctl-tool/table.h"
#include "ctl-tool/vm_machine.h"
#include "hypervisor/migrate/migrate_vm.h"
#include "hypervisor/restore/restore_vms.h"
#include "hypervisor/snapshot/snapshot_vms.h"

namespace livebtl::tool {
namespace {

constexpr double kSeconds = 900.0;

TimeNs timeout_of(const CommandLine& line) {
  return static_cast<TimeNs>(line.timeout_s.value_or(kSeconds) * 1e9);
}

hypervisor::MigrateRequest request_of(const CommandLine& line) {
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
  request.timeout = timeout_of(line);
  request.dry_run = line.dry_run;
  return request;
}

hypervisor::SetRequest set_request_of(const CommandLine& line) {
  hypervisor::SetRequest request;
  request.directory = line.vm.directory;
  for (const std::string& text : line.vm.machines) {
    if (auto machine = read_machine(text)) request.machines.push_back(std::move(*machine));
  }
  request.guest = {line.vm.guest_btlctl, line.job};
  request.lease = static_cast<TimeNs>(line.vm.lease_s * 1e9);
  request.timeout = timeout_of(line);
  request.ignores_disks = line.vm.disks_are_mine;
  request.dry_run = line.dry_run;
  return request;
}

std::string milliseconds_text(double milliseconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", milliseconds);
  return text.data();
}

void print_phases(const hypervisor::Report& report) {
  Table table({"PHASE", report.object_key == "card" ? "CARD" : "OF", "MS>"});
  for (const auto& phase : report.phases)
    table.add({phase.name, phase.object.empty() ? "-" : phase.object,
               milliseconds_text(phase.milliseconds)});
  if (!table.empty()) print(table.text());
}

/// Says what came of it; returns the exit code.
int tell(const CommandLine& line, const hypervisor::Report& report) {
  if (line.json) {
    print_json(hypervisor::report_json(report));
  } else {
    for (const std::string& step : report.plan) print(printable(step) + "\n");
    print_phases(report);
  }
  if (report.end.code == 0 && !line.json) print(printable(report.end.text) + "\n");
  if (report.end.code != 0) complain(printable(report.end.text));
  if (report.end.code != 0 || !line.json) {
    for (const std::string& left : report.end.left) complain("  left to do: " + printable(left));
  }
  return report.end.code;
}

}  // namespace

int run_vm(const CommandLine& line, const std::atomic<bool>& stop) {
  ProgressLine progress(line);
  const auto say = [&](const std::string& text) { progress.show(printable(text), true); };
  const std::string& action = line.arguments.front();
  if (action == "migrate") {
    const auto report = hypervisor::migrate_vm(request_of(line), stop, say);
    progress.clear();
    return tell(line, report);
  }
  const auto report = action == "snapshot"
                          ? hypervisor::snapshot_vms(set_request_of(line), stop, say)
                          : hypervisor::restore_vms(set_request_of(line), stop, say);
  progress.clear();
  return tell(line, report);
}

}  // namespace livebtl::tool
