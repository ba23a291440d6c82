// SPDX-License-Identifier: BSD-3-Clause
// control/agent/relay.h -- which member of a node listens for other nodes, and on which addresses.
//
// The one that holds the lock of <job dir>/relay-<node>.lock. All others keep the file open and are
// told by the kernel when any of them closes it, by intent or by dying: then they try again. That
// costs nothing while nothing happens. Threads: the agent's alone.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "control/place/job.h"

namespace livebtl::control {

class RelayDuty {
 public:
  explicit RelayDuty(const JobFacts& job);
  RelayDuty(const RelayDuty&) = delete;
  RelayDuty& operator=(const RelayDuty&) = delete;
  ~RelayDuty();

  /// true: it is ours, as long as this lives.
  bool take() noexcept;
  /// Readable when whoever has the duty may have given it up; -1: the kernel cannot tell, and
  /// nobody takes over.
  int fd() const noexcept { return notify_.number(); }
  bool may_be_free() noexcept;

 private:
  Fd lock_;
  Fd notify_;
};

/// Addresses of this host that others can reach: those on the wanted interfaces or in the wanted
/// networks (CIDR), else all that are up, the loopback only if there is nothing else. IPv6 ones in
/// brackets. At most four.
std::vector<std::string> relay_addresses(const std::vector<std::string>& wanted);

}  // namespace livebtl::control
