// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/doctor_vm.cc -- see doctor_vm.h.
#include "ctl-tool/doctor_vm.h"

#include <set>

#include "base/deadline.h"
#include "ctl-tool/command.h"
#include "ctl-tool/commands/vm.h"
#include "hypervisor/libvirt/libvirt_vm.h"

namespace livebtl::tool {
namespace {

using doctor::Report;
using hypervisor::VmPlace;

std::string daemon_of(const VmPlace& place) {
  return place.monitor.empty() ? "libvirt's default daemon" : "libvirt at " + place.monitor;
}

/// Any answer will do: the command itself says whether the domain exists.
void check_daemon(const hypervisor::Hypervisor& libvirt, const VmPlace& place,
                  const Deadline& deadline, Report& report) {
  const auto seen = libvirt.reach(place, nullptr)->look(deadline);
  if (seen) return report.fact("libvirt", daemon_of(place) + " answers");
  if (deadline.stopped()) return;  // interrupted; the caller ends
  const std::string uri = place.monitor.empty() ? "" : "-c " + place.monitor + " ";
  report.fault("vm-daemon", daemon_of(place) + " does not answer: " + seen.error().text,
               "Its domains cannot be migrated, saved or restored from here.",
               "systemctl status libvirtd virtqemud there; here: virsh " + uri + "list --all");
}

}  // namespace

std::vector<VmPlace> domains_of(const CommandLine& line) {
  std::vector<VmPlace> places;
  if (!line.vm.domain.empty()) {
    places.push_back({line.connect, "", line.vm.domain});
    const std::string& there = line.vm.destination_connect;
    places.push_back({there.empty() ? line.vm.to : there, "", line.vm.domain});
  }
  for (const std::string& text : line.vm.machines) {
    const auto machine = read_machine(text);
    if (!machine || machine->place.domain.empty()) continue;
    places.push_back(machine->place);
    if (places.back().monitor.empty()) places.back().monitor = line.connect;
  }
  return places;
}

void check_vm_line(const std::vector<std::string>& words, const CommandLine& own,
                   const std::atomic<bool>& stop, Report& report) {
  const auto parsed = parse_command_line(words, "");
  if (const auto* end = std::get_if<EndNow>(&parsed)) {
    if (end->exit_code == ExitCode::kDone) return;  // --help
    return report.fault("line-usage", end->text.substr(0, end->text.find('\n')),
                        "btlctl would do nothing.", "btlctl help vm");
  }
  const auto places = domains_of(std::get<CommandLine>(parsed));
  if (places.empty()) return;
  const auto calls = hypervisor::open_libvirt();
  if (!calls)
    return report.fault("vm-libvirt", calls.error().text,
                        "Machines that are named as domains are reached by libvirt's library.",
                        "apt install libvirt0 (libvirt-libs elsewhere)");
  const hypervisor::LibvirtHypervisor libvirt(*calls);
  std::set<std::string> asked;
  for (const VmPlace& place : places) {
    if (asked.insert(place.monitor).second)
      check_daemon(libvirt, place, {monotonic_now() + own.timeout_for_look(), &stop}, report);
  }
}

}  // namespace livebtl::tool
