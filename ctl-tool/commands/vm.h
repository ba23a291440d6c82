// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/vm.h -- what the actions of vm share.
#pragma once

#include <functional>
#include <string>

#include "ctl-tool/command.h"
#include "hypervisor/plan/report.h"
#include "hypervisor/set/set_steps.h"

namespace livebtl::tool {

extern const Command kVmMigrate, kVmSnapshot, kVmRestore;

inline constexpr std::size_t kVmTextMax = 4096;  // bytes of one option

void add_guest_btlctl(CLI::App& app, CommandLine& line);
TimeNs vm_timeout(const CommandLine& line);

/// One --vm of snapshot and restore: NAME,qmp=SOCKET[,ga=SOCKET][,card=ID]... or
/// NAME,domain=NAME[,connect=URI][,card=ID]...
Result<hypervisor::MachinePlace> read_machine(const std::string& text);

/// Wrong options that all actions have; "": none. `by_libvirt`: machines are named as domains.
std::string problem_of_globals(const CommandLine& line, bool by_libvirt);
bool is_libvirt_uri(const std::string& text);
/// The same for all names of a socket: a link, or another path to it.
std::string one_name(const std::string& path);

/// Does what the command is for, and shows its progress.
using VmCall = std::function<hypervisor::Report(const hypervisor::Hypervisor& hypervisor,
                                                const hypervisor::Progress& progress)>;
/// Prints what came of `call`, for people or as a document. `verb`: "vm migrate"; `by_libvirt`:
/// opens libvirt, else speaks to QEMU's sockets.
ExitCode run_vm(const CommandLine& line, const char* verb, bool by_libvirt, const VmCall& call);
/// Only prints the report.
ExitCode say_report(const CommandLine& line, const hypervisor::Report& report);

}  // namespace livebtl::tool
