// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/doctor_vm.h -- what `btlctl doctor` finds for a btlctl line that names domains: libvirt
// that is not installed, or a daemon that does not answer. Run by btlctl's one thread; asks libvirt
// and changes nothing.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "ctl-tool/command_line.h"
#include "doctor/finding.h"
#include "hypervisor/vm/vm.h"

namespace livebtl::tool {

/// Where a vm line looks for domains: its machines, and the destination of a migration. Empty: it
/// names none, or is not a vm line.
std::vector<hypervisor::VmPlace> domains_of(const CommandLine& line);

/// words: without "btlctl". own: how long this may take.
void check_vm_line(const std::vector<std::string>& words, const CommandLine& own,
                   const std::atomic<bool>& stop, doctor::Report& report);

}  // namespace livebtl::tool
