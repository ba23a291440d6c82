// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/vm.h -- what the actions of vm share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ctl-tool/command.h"
#include "ctl-tool/table.h"

namespace livebtl::tool {

extern const Command kVmMigrate, kVmSnapshot, kVmRestore;

inline constexpr std::size_t kVmTextMax = 4096;  // bytes of one option

void add_guest_btlctl(CLI::App& app, CommandLine& line);
TimeNs vm_timeout(const CommandLine& line);

/// Of all actions; "": nothing.
std::string problem_of_globals(const CommandLine& line);
/// The same for a socket by whatever name: a link, or another way there.
std::string one_name(const std::string& path);

/// "12.3"
std::string milliseconds_text(double milliseconds);

/// What came of it, for people or as a document. left: to be done by hand.
struct VmResult {
  int code = 0;
  std::string text;
  std::vector<std::string> left, plan;
  nlohmann::json document;
};
ExitCode report_vm(const CommandLine& line, const VmResult& result, const Table& phases);

}  // namespace livebtl::tool
