// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/vm_series.h -- vm snapshot with --keep, and with --every: sets in a row, of which the oldest go. Run by
// btlctl's one thread; owns nothing.
#pragma once

#include <atomic>

#include "ctl-tool/commands/vm.h"

namespace livebtl::tool {

void define_series(CLI::App& app, CommandLine& line);
/// "": the options fit together.
std::string problem_of_series(const CommandLine& line);
/// With --every until it is interrupted between two sets; the exit code is the last one's.
/// request: without its hypervisor, which each set opens anew.
ExitCode run_series(const CommandLine& line, const hypervisor::SetRequest& request, bool by_libvirt,
                    const std::atomic<bool>& stop);

}  // namespace livebtl::tool
