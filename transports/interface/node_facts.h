// SPDX-License-Identifier: BSD-3-Clause
// transports/interface/node_facts.h -- what a transport learns about its process when created.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.h"
#include "transports/interface/transport.h"

namespace livebtl::core {

struct NodeFacts {
  ProcessId process{};
  // hash of the node identity: equal for processes that may share memory
  std::uint64_t node = 0;
  // The whole job is believed to be on this node (by the launcher, until expect() says otherwise):
  // nobody outside this machine has to find this process.
  bool one_node = false;
  std::string job_directory;  // the job's run directory, mode 0700, ours
  const Settings* settings = nullptr;
  Blob previous_address;  // address() when it was last open; a transport reuses it
                          // where it can, so that peers that never connected still find it
};

/// Files that a transport has open while it holds a device, and who else in a process may.
struct DeviceFiles {
  std::string prefix = {};  // "/dev/infiniband/uverbs"; "": none
  // Part of a library's file name -> whose it is, and what keeps it off the device.
  std::vector<std::pair<std::string, std::string>> likely_holders = {};
};

/// One kind of transport: how to make it. `make` is called for each add; it opens devices, and may
/// fail.
struct TransportKind {
  std::string name;   // "tcp"
  std::string alias;  // "" or the name it had in Open MPI ("vader", "openib")
  std::function<Result<std::unique_ptr<Transport>>(const NodeFacts&)> make;
  // As in the caps of an open transport, for those who ask before one was ever open.
  std::uint32_t exclusivity = 0;
  std::uint32_t bandwidth_mbps = 0;
  // Needs what a node may lack: excluded from a job until it is added, unless the settings name it.
  // So all processes start with the same routing, whatever their nodes have.
  bool on_request = false;
  // Holds a device that a virtual machine cannot be migrated or saved with.
  bool bound_to_device = false;
  DeviceFiles devices = {};
};

}  // namespace livebtl::core
