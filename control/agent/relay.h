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
#include "base/interfaces.h"
#include "control/place/job.h"

namespace livebtl::control {

class RelayDuty {
 public:
  explicit RelayDuty(const JobFacts& job);
  RelayDuty(const RelayDuty&) = delete;
  RelayDuty& operator=(const RelayDuty&) = delete;
  ~RelayDuty();

  /// true: this member relays, for as long as this object lives.
  bool take() noexcept;
  /// Readable when the relay on duty may have given it up; -1: the kernel cannot tell, and nobody takes
  /// over.
  int fd() const noexcept { return notify_.number(); }
  bool may_be_free() noexcept;

 private:
  Fd lock_;
  Fd notify_;
};

/// Of this host's addresses those that others can reach: what TCP_IF names, as far as it is here, else all, the loopback
/// only if there is nothing else. IPv6 ones in brackets. At most four. Errors: if there are none, as choose_addresses().
Result<std::vector<std::string>> relay_addresses(const std::vector<LocalAddress>& all,
                                                 const std::vector<std::string>& wanted);

}  // namespace livebtl::control
