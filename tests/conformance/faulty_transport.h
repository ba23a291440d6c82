// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/faulty_transport.h -- a decorator that makes any transport behave as badly as
// it may.
//
// All from one seed: storms of kRetry, frames that are delivered turns later, endpoints that are
// severed at a random frame. The interface's promises still hold, except that a severed endpoint
// loses frames.
// Ownership: a FaultyTransport owns the transport beneath, a FaultyEndpoint the endpoint beneath.
// Threads: one at a time, as for any transport.
#pragma once

#include <memory>
#include <vector>

#include "base/random.h"
#include "transports/interface/transport.h"

namespace livebtl::conformance {

struct Faults {
  std::uint64_t seed = 1;
  double retry = 0;               // share of posts that begin a storm of retries
  std::uint32_t retries_max = 1;  // length of a storm
  double delay = 0;               // of arriving frames: held back, with all after them
  std::uint32_t delay_turns_max = 1;
  double sever = 0;  // of posts: the endpoint breaks instead
};

struct FaultCounts {
  std::uint64_t retries = 0;
  std::uint64_t delays = 0;
  std::uint64_t severed = 0;
  friend bool operator==(const FaultCounts&, const FaultCounts&) = default;
};

class FaultyEndpoint;

class FaultyTransport : public core::Transport, private core::TransportSink, core::ByTicket {
 public:
  FaultyTransport(std::unique_ptr<core::Transport> beneath, const Faults& faults);

  const FaultCounts& counts() const noexcept { return counts_; }

  std::string_view name() const noexcept override { return beneath_->name(); }
  const core::Caps& caps() const noexcept override { return caps_; }
  Blob address() const override { return beneath_->address(); }
  Blob contact() const override { return beneath_->contact(); }
  bool reaches(Bytes address) const noexcept override { return beneath_->reaches(address); }
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes address) override;
  std::size_t progress(core::TransportSink& accept, TimeNs now,
                       std::size_t frames_max) noexcept override;
  Status usable() override { return beneath_->usable(); }
  core::ByTicket* by_ticket() noexcept override { return beneath_->by_ticket() ? this : nullptr; }
  const core::HoldsDevice* holds_device() const noexcept override {
    return beneath_->holds_device();
  }
  int wait_fd() const noexcept override { return beneath_->wait_fd(); }
  bool arm() noexcept override;

 private:
  friend class FaultyEndpoint;
  Result<std::unique_ptr<core::Endpoint>> admit(Bytes ticket) override;
  void on_accept(std::unique_ptr<core::Endpoint> endpoint) noexcept override;

  const Faults faults_;
  FaultCounts counts_;
  Random random_;
  core::Caps caps_;
  core::TransportSink* accept_ = nullptr;  // during progress()
  std::vector<FaultyEndpoint*> endpoints_;
  std::unique_ptr<core::Transport> beneath_;
};

}  // namespace livebtl::conformance
