// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands.h -- what btlctl does, one function a group of commands. Data goes to stdout,
// all else to stderr. Each returns the exit code.
#pragma once

#include <atomic>

#include "ctl-tool/command_line.h"

namespace livebtl::tool {

int show_jobs(const CommandLine& line, const std::atomic<bool>& stop);
int show_list(const CommandLine& line, const std::atomic<bool>& stop);
int show_status(const CommandLine& line, const std::atomic<bool>& stop);
int show_settings(const CommandLine& line);
int write_secret(const CommandLine& line, const std::atomic<bool>& stop);
int watch(const CommandLine& line, const std::atomic<bool>& stop);
/// hold start | renew | check | end, job restored
int run_hold(const CommandLine& line, const std::atomic<bool>& stop);
/// vm migrate | snapshot | restore
int run_vm(const CommandLine& line, const std::atomic<bool>& stop);
/// hooks install | check
int run_hooks(const CommandLine& line, const std::atomic<bool>& stop);
/// checkpoint prepare | return
int run_checkpoint(const CommandLine& line, const std::atomic<bool>& stop);
/// add | quiesce | remove | switch | set | resume | abort
int run_ladder(const CommandLine& line, const std::atomic<bool>& stop);

/// Everything: parse, do, say. `stop` becomes true on SIGINT and SIGTERM.
int run(std::vector<std::string> arguments, const std::atomic<bool>& stop);

}  // namespace livebtl::tool
