// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/vm_series.h -- vm snapshot with --keep and with --every: a series of sets,
// whose oldest go. Run by btlctl's one thread; owns nothing.
#pragma once

#include <atomic>

#include "ctl-tool/commands/vm.h"

namespace livebtl::tool {

void define_series(CLI::App& app, CommandLine& line);
/// "": the options fit together.
std::string problem_of_series(const CommandLine& line);
/// With --every, runs until interrupted between two sets; returns the last set's exit code.
/// request: without its hypervisor, which each set opens anew.
ExitCode run_series(const CommandLine& line, const hypervisor::SetRequest& request, bool by_libvirt,
                    const std::atomic<bool>& stop);

}  // namespace livebtl::tool
