// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_nearness.h -- the RDMA ports of this machine as the kernel shows them in
// /sys, and how far each device is from the processors that this process may run on. No device is
// opened. docs/adr/0065-several-cards.md says why hwloc is not used.
//
// Any thread. `system_files` is /sys, or what a test has made in its place.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace livebtl::verbs {

struct ListedPort {
  std::string device;
  std::uint8_t port = 0;
  bool active = false;
};
/// Sorted by name, mlx5_2 before mlx5_10. Without iWARP ports, which are not supported.
std::vector<ListedPort> listed_ports(const std::string& system_files);

/// The numbers of the processors that this process may run on.
std::set<unsigned> bound_processors();

/// From the device's node (NUMA) to the nearest node of these processors; 10: on that node. Also 10
/// if the machine does not tell.
std::uint8_t distance_of(const std::string& system_files, const std::string& device,
                         const std::set<unsigned>& processors);

}  // namespace livebtl::verbs
