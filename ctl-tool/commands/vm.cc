// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/vm.cc -- vm migrate | snapshot | restore: what they have in common. Run by btlctl's
// one thread; owns nothing.
#include "ctl-tool/commands/vm.h"

#include <array>
#include <cstdio>
#include <filesystem>

#include "ctl-tool/options.h"
#include "ctl-tool/progress_line.h"
#include "ctl-tool/say.h"
#include "hypervisor/libvirt/libvirt_vm.h"
#include "hypervisor/qmp/qmp_vm.h"

namespace livebtl::tool {
namespace {

constexpr double kVmSecondsDefault = 900.0;
constexpr double kVmSecondsMin = 30.0;  // less leaves no time for the way back

void print_phases(const hypervisor::Report& report, const Screen& screen) {
  Table table({"PHASE", report.object_key == "card" ? "CARD" : "OF", "MS>"});
  for (const auto& phase : report.phases) {
    std::array<char, 32> milliseconds{};
    std::snprintf(milliseconds.data(), milliseconds.size(), "%.1f", phase.milliseconds);
    table.add({phase.name, phase.object.empty() ? "-" : phase.object, milliseconds.data()});
  }
  if (!table.empty()) print(table.text(screen));
}

/// The hypervisor, or an error that says what to install.
Result<std::unique_ptr<hypervisor::Hypervisor>> reached(bool by_libvirt) {
  using Reached = Result<std::unique_ptr<hypervisor::Hypervisor>>;
  if (!by_libvirt) return std::make_unique<hypervisor::QmpHypervisor>();
  return hypervisor::open_libvirt().and_then([](const hypervisor::LibvirtCalls& calls) -> Reached {
    return std::make_unique<hypervisor::LibvirtHypervisor>(calls);
  });
}

hypervisor::Report called(const char* verb, bool by_libvirt, const VmCall& call,
                          const hypervisor::Progress& progress) {
  const auto hypervisor = reached(by_libvirt);
  if (hypervisor) return call(**hypervisor, progress);
  hypervisor::Report report{.verb = verb, .object_key = "of"};
  report.end = {hypervisor::kCodeNotFound, hypervisor.error().text};
  return report;
}

const Command* const kVmActions[] = {&kVmMigrate, &kVmSnapshot, &kVmRestore};

}  // namespace

void add_guest_btlctl(CLI::App& app, CommandLine& line) {
  add_value(app, "--guest-btlctl", line.vm.guest_btlctl, "PATH", "btlctl in the guest")
      ->capture_default_str()
      ->check(takes_at_most(kVmTextMax));
}

TimeNs vm_timeout(const CommandLine& line) { return line.timeout_or(kVmSecondsDefault); }

bool is_libvirt_uri(const std::string& text) { return text.find("://") != std::string::npos; }

std::string problem_of_globals(const CommandLine& line, bool by_libvirt) {
  if (!line.connect.empty() && !by_libvirt)
    return "--connect is not possible with vm, which reaches the job through the guests' agents; "
           "where machines are named as libvirt's domains it takes libvirt's URI";
  if (!line.connect.empty() && !is_libvirt_uri(line.connect))
    return "--connect takes libvirt's URI here, such as qemu:///system or "
           "qemu+ssh://node8/system, not '" +
           line.connect + "'";
  if (line.timeout_s && *line.timeout_s < kVmSecondsMin)
    return "vm takes a --timeout of 30 s at least: a third of it is kept for the way back";
  return "";
}

std::string one_name(const std::string& path) {
  std::error_code failed;
  const auto whole = std::filesystem::absolute(path, failed);
  if (failed) return path;
  const auto plain = std::filesystem::weakly_canonical(whole, failed);
  return failed ? path : plain.string();
}

ExitCode run_vm(const CommandLine& line, const char* verb, bool by_libvirt, const VmCall& call) {
  ProgressLine progress(line);
  const hypervisor::Report report = called(verb, by_libvirt, call, [&](const std::string& text) {
    progress.show(printable(text), true);
  });
  progress.clear();
  return say_report(line, report);
}

ExitCode say_report(const CommandLine& line, const hypervisor::Report& report) {
  const auto code = static_cast<ExitCode>(report.end.code);
  const bool done = code == ExitCode::kDone;
  if (line.json) {
    print_json(hypervisor::report_json(report));
  } else {
    for (const std::string& step : report.plan) print(printable(step) + "\n");
    print_phases(report, screen_of(line));
  }
  if (done && !line.json) print(printable(report.end.text) + "\n");
  if (!done) complain(printable(report.end.text));
  if (!done || !line.json) {
    for (const std::string& left : report.end.left) complain("  left to do: " + printable(left));
  }
  return code;
}

const Command kVm{
    .name = "vm",
    .summary = "Migrate, save or restore virtual machines under a running job",
    .detail =
        R"(Call it where QEMU runs, or anywhere from which libvirt can be reached. migrate moves one guest to
another QEMU, snapshot saves all machines of a job as one set, and restore continues the job from
such a set. Through the guests' agents and the btlctl in the guests, the job is told to release its
devices, and to return to them.

If the command is killed, call it again; it continues from where it stands. --timeout (900, at least
30) bounds all of it: two thirds are for the steps up to the completed migration, the last snapshot
or the continued job; the rest is kept for the way back, or for what follows. If a guest still owes
an answer then, the command waits for it at most half a minute longer.

Examples:
  btlctl vm migrate --qmp vm1.qmp --ga vm1.agent --to tcp:node8:4444 --card hca0
  btlctl vm migrate --domain vm1 --to qemu+ssh://node8/system --card hostdev0
  btlctl vm snapshot monday --vm vm1,qmp=1.qmp,ga=1.agent,card=hca0 --vm vm2,qmp=2.qmp,ga=2.agent
  btlctl vm restore monday --vm vm1,qmp=1.qmp,ga=1.agent --vm vm2,qmp=2.qmp,ga=2.agent)",
    .actions = kVmActions};

}  // namespace livebtl::tool
