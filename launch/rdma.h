// SPDX-License-Identifier: BSD-3-Clause
// launch/rdma.h -- this node's RDMA devices as the kernel shows them in /sys: no device is opened.
#pragma once

#include <string>
#include <vector>

#include "launch/system.h"

namespace livebtl::launch {

struct RdmaPort {
  std::string device;        // "mlx5_0"
  std::string number;        // "1"
  std::string state;         // "ACTIVE", "DOWN", ...
  bool ethernet = false;     // RoCE; else InfiniBand
  bool has_address = false;  // a GID that is not zero
  std::string interface;     // RoCE: of its first GID; "": not here
  bool active() const noexcept { return state == "ACTIVE"; }
};

std::vector<std::string> rdma_devices(const System& system);
std::vector<RdmaPort> rdma_ports(const System& system);
/// A port that verbs could use now.
bool has_usable_port(const System& system);

}  // namespace livebtl::launch
