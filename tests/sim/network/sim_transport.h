// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/network/sim_transport.h -- core's transport interface over the simulated network.
//
// As strict as the interface allows: a stable payload is read as late as possible, a placed payload
// may be torn, a retry may come at any time, and an engine that breaks the contract fails an
// assertion.
#pragma once

#include <deque>
#include <vector>

#include "tests/sim/network/sim_network.h"

namespace livebtl::sim {

class SimEndpoint final : public core::Endpoint, private core::FastBox {
 public:
  SimEndpoint(SimTransport& transport, Connection& connection, int side);
  ~SimEndpoint() override;

  void attach(core::EndpointSink& sink) noexcept override;
  core::Post post(const core::Frame& frame) noexcept override;
  std::size_t in_flight() const noexcept override { return outbox_.size() + exposures_.size(); }
  void let_go() noexcept override;
  void trust() noexcept override { trusted_ = true; }
  bool kernel_vouched() const noexcept override { return !connection_.keeps; }
  core::EndpointStats stats() const noexcept override { return stats_; }
  std::string describe() const override;
  core::FastBox* fast_box() noexcept override { return connection_.keeps ? nullptr : this; }

  /// Moves at most frames_max frames and returns how many.
  std::size_t progress(std::size_t frames_max);
  bool has_work(TimeNs now) const noexcept;
  /// Something of ours waits for our turn alone, or for room on the wire.
  bool can_move() const noexcept {
    return !outbox_.empty() || (!exposures_.empty() && exposures_.front().payload->read);
  }

 private:
  struct Waiting {
    Parcel parcel;
    Bytes borrowed;  // posted, not let go: read when put on the wire
    std::uint64_t cookie = 0;
    bool posted = false;
  };
  struct Exposure {
    std::shared_ptr<Exposed> payload;
    std::uint64_t cookie = 0;
  };

  core::BoxMemory box(int writer) noexcept {
    SimBox& at = *connection_.boxes[writer];
    return {at.slots, at.area, &at.taken, &at.asleep};
  }
  core::BoxMemory outgoing() noexcept override { return box(side_); }
  core::BoxMemory incoming() noexcept override { return box(1 - side_); }
  void wake_reader() noexcept override { network_.boxed(connection_, side_); }
  Waiting take(const core::Frame& frame);
  core::Post hand_on(Waiting waiting);
  core::Post expose(const core::Frame& frame);
  void move_exposed() noexcept;
  void take_exposed_along() noexcept;
  std::size_t settle_exposed();
  bool deliver_exposed(Parcel parcel);
  bool read(Exposed& exposed, MutableBytes& place);
  Half& mine() const noexcept { return connection_.halves[side_]; }
  Half& other() const noexcept { return connection_.halves[1 - side_]; }
  bool can_post() const noexcept;
  /// tell: in progress(), which reports to the sink; else while closing.
  std::size_t flush(std::size_t frames_max, bool tell);
  std::size_t deliver(std::size_t frames_max);
  bool deliver_one(Parcel parcel);
  void damaged(const Parcel& parcel, bool torn);
  void look_for_break();
  void go_down(Error why);

  SimTransport& transport_;
  SimNetwork& network_;
  Connection& connection_;
  const int side_;
  core::EndpointSink* sink_ = nullptr;
  std::deque<Waiting> outbox_;
  std::deque<Exposure> exposures_;  // not read yet, or not reported
  core::EndpointStats stats_;
  bool trusted_ = false;
  bool down_ = false;
};

class SimTransport final : public core::Transport {
 public:
  SimTransport(SimNetwork& network, const SimKind& kind, const core::NodeFacts& facts);
  ~SimTransport() override;

  std::string_view name() const noexcept override { return kind_.name; }
  const core::Caps& caps() const noexcept override { return kind_.caps; }
  Blob address() const override;
  Blob contact() const override { return address(); }
  bool reaches(Bytes address) const noexcept override;
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes address) override;
  std::size_t progress(core::TransportSink& accept, TimeNs now,
                       std::size_t frames_max) noexcept override;
  int wait_fd() const noexcept override { return network_.wait_fd(); }
  bool arm() noexcept override;

  ProcessId process() const noexcept { return process_; }
  SimNetwork& network() noexcept { return network_; }
  void add(SimEndpoint& endpoint) { endpoints_.push_back(&endpoint); }
  void remove(SimEndpoint& endpoint) noexcept;
  std::size_t endpoints() const noexcept { return endpoints_.size(); }

 private:
  SimNetwork& network_;
  const SimKind& kind_;
  const ProcessId process_;
  const std::uint64_t node_;
  std::vector<SimEndpoint*> endpoints_;
};

}  // namespace livebtl::sim
