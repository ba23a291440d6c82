// SPDX-License-Identifier: BSD-3-Clause
// transports/interface/node_facts.h -- what a transport is told about its process when it is made.
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
  // Every process of the job is believed to be on this node (by the launcher, until expect() says
  // otherwise): nobody from outside of the machine has to find this one.
  bool one_node = false;
  std::string job_directory;  // the job's run directory, mode 0700, ours
  const Settings* settings = nullptr;
  Blob previous_address;  // address() of the last time it was open; a transport takes it again
                          // where it can, so that peers that never connected still find it
};

/// Files that a transport has open while it has a device, and who else in a process may.
struct DeviceFiles {
  std::string prefix = {};  // "/dev/infiniband/uverbs"; "": none
  // Part of a library's file name -> whose it is, and what keeps it from the device.
  std::vector<std::pair<std::string, std::string>> likely_holders = {};
};

/// One kind of transport: how to make it. `make` is called for each add; it opens devices, and may
/// fail.
struct TransportKind {
  std::string name;   // "tcp"
  std::string alias;  // "" or the name it had in Open MPI ("vader", "openib")
  std::function<Result<std::unique_ptr<Transport>>(const NodeFacts&)> make;
  // As in the caps of one that is open: for those who ask before it ever was.
  std::uint32_t exclusivity = 0;
  std::uint32_t bandwidth_mbps = 0;
  // Needs what a node may lack: in a job it is excluded until it is added, unless the settings name
  // it. So all processes begin with one routing, whatever their nodes have.
  bool on_request = false;
  // Holds a device that a virtual machine cannot be migrated or saved with.
  bool bound_to_device = false;
  DeviceFiles devices = {};
};

}  // namespace livebtl::core
