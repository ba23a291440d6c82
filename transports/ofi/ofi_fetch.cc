// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_fetch.cc -- see ofi_fetch.h.
#include "transports/ofi/ofi_fetch.h"

#include <algorithm>

#include "base/crc32c.h"

namespace livebtl::ofi {

Fetch::Fetch(Domain& domain, OfiEndpoint& owner_endpoint, Buffer& buffer, Bytes header,
             const Lent& lent, Landing landing)
    : owner(&owner_endpoint),
      domain_(domain),
      buffer_(buffer),
      header_bytes_(static_cast<std::uint8_t>(header.size())),
      lent_(lent),
      landing_(std::move(landing)) {
  use = Use::kFetch;
  copy_small(header_.data(), header.data(), header.size());
}

bool Fetch::is_intact() const noexcept {
  return lent_.crc_given == 0 || crc32c(payload()) == lent_.crc;
}

long Fetch::post(std::uint32_t peer) noexcept {
  const std::uint32_t left = lent_.bytes - done_;
  const auto step = steps() ? std::min(left, static_cast<std::uint32_t>(kBufferBytes)) : left;
  Transfer transfer;
  transfer.here = {steps() ? buffer_.bytes : landing_.bytes.get() + done_, step};
  transfer.descriptor = steps() ? buffer_.descriptor : Domain::descriptor(landing_.registration);
  transfer.peer = peer;
  transfer.there = {lent_.key, lent_.address + done_};
  const long code = domain_.begin_read(transfer, *this);
  if (code != 0) return code;
  step_ = step;
  peer_ = peer;
  domain_.peers().use(peer_);
  return 0;
}

bool Fetch::step_done() noexcept {
  domain_.peers().leave(peer_);
  if (steps()) std::copy_n(buffer_.bytes, step_, landing_.bytes.get() + done_);
  done_ += std::exchange(step_, 0);
  return done_ == lent_.bytes;
}

void Fetch::step_failed() noexcept {
  domain_.peers().leave(peer_);
  step_ = 0;
}

}  // namespace livebtl::ofi
