// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_fetch.h -- one lent payload that is being read from the peer's memory, to
// memory of our own: libfabric cannot be told to leave a user's alone again. In one read, or, where
// a provider wants memory to be registered and this cannot be, in steps by way of the buffer in
// which the message came.
//
// Ownership: of an endpoint; of the transport if that has gone while a read was under way. Threads:
// the engine's lock.
#pragma once

#include "transports/ofi/ofi_domain.h"
#include "transports/ofi/ofi_lent.h"

namespace livebtl::ofi {

/// Where payloads land, one after the other.
struct Landing {
  std::unique_ptr<std::byte[]> bytes;  // kLentBytesMax
  Registration registration;           // where the provider wants one, and it could be had
};

class Fetch : public Context {
 public:
  /// buffer: of the message; the owner gives it back. landing: the owner takes it back.
  Fetch(Domain& domain, OfiEndpoint& owner, Buffer& buffer, Bytes header, const Lent& lent,
        Landing landing);

  Buffer& buffer() const noexcept { return buffer_; }
  /// Once nothing is under way.
  Landing take_landing() noexcept { return std::move(landing_); }
  Bytes header() const noexcept { return {header_.data(), header_bytes_}; }
  Bytes payload() const noexcept { return {landing_.bytes.get(), lent_.bytes}; }
  /// Does the payload have the checksum that its sender found?
  bool is_intact() const noexcept;

  /// Begins the next read: 0. -FI_EAGAIN: no room now; or another error of libfabric's.
  long post(std::uint32_t peer) noexcept;
  /// The read is over. true: all is there.
  bool step_done() noexcept;
  /// It is over, and came to nothing.
  void step_failed() noexcept;
  bool under_way() const noexcept { return step_ != 0; }

  OfiEndpoint* owner;  // null: it has gone
  TimeNs since = 0;    // seen under way; 0: not yet

 private:
  bool steps() const noexcept { return domain_.has_mode(FI_MR_LOCAL) && !landing_.registration; }

  Domain& domain_;
  Buffer& buffer_;
  std::uint8_t header_bytes_;
  std::array<std::byte, core::kHeaderBytesMax> header_;
  Lent lent_;
  Landing landing_;
  std::uint32_t peer_ = 0;
  std::uint32_t done_ = 0;  // bytes that are there
  std::uint32_t step_ = 0;  // bytes of the read under way
};

}  // namespace livebtl::ofi
