// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_peers.h -- the libfabric endpoints of peers, by name, in the address table of
// a domain. Connections, operations under way and pending BYEs count as uses of a peer.
//
// Threads: the engine's lock.
#pragma once

#include <rdma/fi_domain.h>

#include <map>
#include <vector>

#include "base/bytes.h"
#include "livebtl/result.h"

namespace livebtl::ofi {

class Peers {
 public:
  /// table: borrowed. format, own: the form of names, and our own name.
  Peers(fid_av* table, std::uint32_t format, const Blob& own) noexcept
      : table_(table), format_(format), own_(own) {}
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  /// Begins a use of a peer; leave() ends it. name: hostile. Errors: kInvalid.
  Result<std::uint32_t> enter(Bytes name);
  /// One more use of a peer that is in use.
  void use(std::uint32_t peer) noexcept { ++peers_[peer].uses; }
  void leave(std::uint32_t peer) noexcept;
  fi_addr_t address(std::uint32_t peer) const noexcept { return peers_[peer].address; }

 private:
  struct Peer {
    fi_addr_t address = FI_ADDR_NOTAVAIL;
    std::uint32_t uses = 0;
    Blob name;  // empty: free entry
  };

  bool is_name(Bytes name) const noexcept;
  void forget_one() noexcept;

  fid_av* const table_;
  const std::uint32_t format_;
  const Blob own_;
  std::vector<Peer> peers_;
  std::map<Blob, std::uint32_t> by_name_;
  std::uint32_t unused_ = 0;
};

}  // namespace livebtl::ofi
