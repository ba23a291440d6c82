// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/vm_options.h -- what the verb vm takes on the command line. Used by btlctl's one thread;
// owns plain values.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace livebtl::tool {

struct VmOptions {
  std::string qmp, agent, to;
  std::vector<std::string> cards;
  std::vector<std::string> card_arguments;
  std::string destination_qmp, destination_agent;
  std::string guest_btlctl = "btlctl";
  // of snapshot and restore:
  std::string directory;
  std::vector<std::string> machines;  // as vm_machine.h reads them
  double lease_s = 300.0;
  bool disks_are_mine = false;
};

void add_vm_options(CLI::App& command, VmOptions& options);

/// What is wrong; "": nothing. `wait`: --no-wait was not given.
std::string vm_problem(const std::string& action, bool wait, const VmOptions& options);

}  // namespace livebtl::tool
