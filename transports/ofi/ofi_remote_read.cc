// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_remote_read.cc -- see ofi_remote_read.h.
#include "transports/ofi/ofi_remote_read.h"

#include <algorithm>

namespace livebtl::ofi {

RemoteRead::RemoteRead(Domain& domain, OfiEndpoint& owner_endpoint, Buffer& buffer, Bytes header,
                       const RemoteBuffer& remote, BounceBuffer bounce)
    : owner(&owner_endpoint),
      domain_(domain),
      buffer_(buffer),
      progress_(header, remote),
      bounce_(std::move(bounce)) {
  use = Use::kRemoteRead;
}

long RemoteRead::post(std::uint32_t peer) noexcept {
  const std::uint32_t left = progress_.left();
  const auto step = steps() ? std::min(left, static_cast<std::uint32_t>(kBufferBytes)) : left;
  Transfer transfer;
  transfer.here = {steps() ? buffer_.bytes : bounce_.bytes.get() + progress_.done(), step};
  transfer.descriptor = steps() ? buffer_.descriptor : Domain::descriptor(bounce_.registration);
  transfer.peer = peer;
  transfer.there = {progress_.key(), progress_.next_address()};
  const long code = domain_.begin_read(transfer, *this);
  if (code != 0) return code;
  progress_.begin_step(step);
  peer_ = peer;
  domain_.peers().use(peer_);
  return 0;
}

bool RemoteRead::step_done() noexcept {
  domain_.peers().leave(peer_);
  if (steps()) std::copy_n(buffer_.bytes, progress_.step(), bounce_.bytes.get() + progress_.done());
  return progress_.end_step();
}

void RemoteRead::step_failed() noexcept {
  domain_.peers().leave(peer_);
  progress_.fail_step();
}

}  // namespace livebtl::ofi
