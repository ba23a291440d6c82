// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/topology.h -- which processes of a job run where, and what connects them. Pure.
#pragma once

#include <string>
#include <vector>

#include "ctl-tool/pages.h"

namespace livebtl::tool {

struct Topology {
  struct Process {
    std::string name;  // "rank 3"
    int rank = -1;
    std::size_t node = 0;
    std::vector<std::string> open, absent;  // transports
    bool at_work = false;                   // in a switch or a hold
  };
  struct Node {
    std::string id, host;
    std::vector<std::size_t> processes;
  };
  /// A pair of two processes that are both in `processes`; not one with itself.
  struct Link {
    std::size_t one = 0, other = 0;
    std::string transport;  // that `one` sends on
    std::string back;       // that `other` sends on; "": the same, as far as known
  };
  std::string job;
  std::vector<Node> nodes;
  std::vector<Process> processes;
  std::vector<Link> links;
  std::vector<int> missing;         // ranks that were announced and are not there
  std::vector<std::string> unseen;  // not found, but known to the others as their peers
  std::uint32_t missing_count = 0;
};

Topology topology_of(const Pages& pages);

}  // namespace livebtl::tool
