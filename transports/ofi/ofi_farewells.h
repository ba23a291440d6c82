// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_farewells.h -- last words of connections that have gone, which libfabric did
// not take at once: the peer must hear them, since to it a connection that nobody serves any more
// looks like one that rests.
//
// Threads: the engine's lock.
#pragma once

#include <vector>

#include "transports/ofi/ofi_domain.h"

namespace livebtl::ofi {

class Farewells {
 public:
  /// route: of the connection's next message. promised: its last one.
  void owe(Domain& domain, std::uint32_t peer, const Route& route, std::uint32_t promised,
           TimeNs now);
  /// Says what libfabric takes by now, in each progress(). Gives up on who has not been reached for
  /// seconds.
  void say(Domain& domain, TimeNs now) noexcept {
    if (!owed_.empty()) [[unlikely]]
      say_owed(domain, now);
  }
  /// Their domain ends, and the connections of libfabric's with it: peers hear of that.
  void forget() noexcept { owed_.clear(); }

 private:
  struct Owed {
    std::uint32_t peer = 0;  // one use of it
    Route route;
    std::uint32_t promised = 0;
    TimeNs since = 0;
  };

  void say_owed(Domain& domain, TimeNs now) noexcept;

  std::vector<Owed> owed_;
};

}  // namespace livebtl::ofi
