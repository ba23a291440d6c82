// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/vm_command.cc -- vm migrate: what was asked for, handed to hypervisor/, and what came of
// it. Run by btlctl's one thread; owns nothing.
#include <array>
#include <cstdio>

#include "ctl-tool/commands.h"
#include "ctl-tool/progress_line.h"
#include "ctl-tool/say.h"
#include "ctl-tool/table.h"
#include "hypervisor/migrate_vm.h"

namespace livebtl::tool {
namespace {

constexpr double kMigrationSeconds = 600.0;

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
  request.timeout = static_cast<TimeNs>(line.timeout_s.value_or(kMigrationSeconds) * 1e9);
  request.dry_run = line.dry_run;
  return request;
}

std::string milliseconds_text(double milliseconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", milliseconds);
  return text.data();
}

void print_phases(const hypervisor::MigrateReport& report) {
  Table table({"PHASE", "CARD", "MS>"});
  for (const auto& phase : report.phases)
    table.add(
        {phase.name, phase.card.empty() ? "-" : phase.card, milliseconds_text(phase.milliseconds)});
  if (!table.empty()) print(table.text());
}

}  // namespace

int run_vm(const CommandLine& line, const std::atomic<bool>& stop) {
  ProgressLine progress(line);
  const auto report = hypervisor::migrate_vm(request_of(line), stop, [&](const std::string& text) {
    progress.show(printable(text), true);
  });
  progress.clear();
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

}  // namespace livebtl::tool
