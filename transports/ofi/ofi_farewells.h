// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_farewells.h -- last words of connections that have gone, which libfabric did
// not take at once: to the peer, a connection that nobody serves any more looks like one that
// rests.
//
// Where a word is still owed when the transport ends, the engine tells the peer over another path.
// Threads: the engine's lock.
#pragma once

#include <vector>

#include "transports/ofi/ofi_domain.h"

namespace livebtl::ofi {

class Farewells {
 public:
  /// route: of the connection's next message. promised: its last one.
  void owe(Domain& domain, std::uint32_t peer, const Route& route, std::uint32_t promised);
  /// From time to time (for each try to a peer that has gone, some providers open a socket): says
  /// what libfabric takes by now, and gives up on who has not been reached for seconds.
  void look(Domain& domain, TimeNs now) noexcept;
  /// The domain ends.
  void forget() noexcept { owed_.clear(); }
  std::size_t count() const noexcept { return owed_.size(); }

 private:
  struct Owed {
    std::uint32_t peer = 0;  // one use of it
    Route route;
    std::uint32_t promised = 0;
    TimeNs since = 0;  // 0: not tried yet
  };

  std::vector<Owed> owed_;
};

}  // namespace livebtl::ofi
