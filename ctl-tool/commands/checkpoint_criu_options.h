// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/checkpoint_criu_options.h -- the options of checkpoint run, restore and node, and what they say. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ctl-tool/command.h"
#include "hypervisor/criu/new_addresses.h"

namespace livebtl::tool {

inline constexpr const char* kLeaveRunning = "--leave-running";
inline constexpr double kCriuLeaseDefault = 600.0;  // seconds

void define_criu_run(CLI::App& app, CommandLine& line);
void define_criu_restore(CLI::App& app, CommandLine& line);

/// Conflicts of all three; of run; of restore. "": none.
std::string conflict_of_criu(const CommandLine& line);
std::string conflict_of_nodes(const CommandLine& line);
std::string conflict_of_restart(const CommandLine& line);

/// --on, --address: the parser has checked each.
std::map<std::string, std::string> hosts_in(const CommandLine& line);
std::vector<hypervisor::NewAddress> addresses_in(const CommandLine& line);

}  // namespace livebtl::tool
