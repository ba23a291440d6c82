// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_pending_byes.h -- BYEs of connections that have gone, which libfabric did not
// take at once: to the peer, a connection that nobody serves any more looks like an idle one.
//
// If a BYE is still pending when the transport ends, the engine tells the peer over another path.
// Threads: the engine's lock.
#pragma once

#include <vector>

#include "transports/ofi/ofi_domain.h"

namespace livebtl::ofi {

class PendingByes {
 public:
  /// route: of the connection's next message. granted: as in its head.
  void add(Domain& domain, std::uint32_t peer, const Route& route, std::uint32_t granted);
  /// From time to time (some providers open a socket for each attempt to reach a peer that has
  /// gone): sends what libfabric takes by now, and gives up on peers not reached for seconds.
  void look(Domain& domain, TimeNs now) noexcept;
  /// The domain ends.
  void forget() noexcept { pending_.clear(); }
  std::size_t count() const noexcept { return pending_.size(); }

 private:
  struct Pending {
    std::uint32_t peer = 0;  // holds one use
    Route route;
    std::uint32_t granted = 0;
    TimeNs since = 0;  // 0: not tried yet
  };

  std::vector<Pending> pending_;
};

}  // namespace livebtl::ofi
