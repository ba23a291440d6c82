// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_endpoint.h -- one connection over shared memory: a ring each way and the socket
// beside them. Payloads too large for the ring are exposed (sm_zero_copy.h).
//
// Life: dialling (only while the peer's queue of connections is full) -> open -> closing (the
// socket has ended, frames that the peer had written are still delivered) -> down. A malformed
// ring: open -> down at once. Ownership: the engine owns the endpoint; the transport borrows it, to
// move its frames, until ~SmEndpoint.
#pragma once

#include <sys/types.h>

#include <optional>

#include "transports/interface/transport.h"
#include "transports/sm/sm_segment.h"
#include "transports/sm/sm_socket.h"

namespace livebtl::sm {

class SmTransport;

class SmEndpoint final : public core::Endpoint, private core::FastBox {
 public:
  /// What a connection is made of, on either side.
  struct Parts {
    Fd socket;
    Segment segment;
    pid_t pid = 0;
  };

  SmEndpoint(SmTransport& transport, std::uint64_t id, ProcessId peer);
  ~SmEndpoint() override;

  /// dialler: we made the segment. Once. Errors: kNoMemory: descriptors or epoll watches are used
  /// up, so the peer's end would go unseen.
  Status open(Parts parts, bool dialler);

  void attach(core::EndpointSink& sink) noexcept override;
  core::Post post(const core::Frame& frame) noexcept override;
  void let_go() noexcept override;  // all that is not exposed was copied
  // All but exposed payloads is already where the peer reads.
  std::size_t in_flight() const noexcept override {
    return exporter_ ? exporter_->outstanding() : 0;
  }
  void trust() noexcept override;
  void copy_by(std::optional<SingleCopy> way) noexcept override;
  bool kernel_vouched() const noexcept override { return true; }
  core::EndpointStats stats() const noexcept override { return stats_; }
  std::string describe() const override;
  // Only where the reader alone orders its sleep.
  core::FastBox* fast_box() noexcept override {
    return ordered_ || state_ != State::kOpen ? nullptr : this;
  }

  // For the transport.
  std::uint64_t id() const noexcept { return id_; }
  ProcessId peer() const noexcept { return peer_; }
  bool dialling() const noexcept { return state_ == State::kDialling; }
  bool closing() const noexcept { return state_ == State::kClosing; }
  bool waiting() const noexcept { return in_.waiting() && !reader_.asks(); }
  /// Delivers at most frames_max (> 0) frames. Requires: waiting().
  std::size_t deliver(std::size_t frames_max) noexcept;
  /// Something happened on the socket, or the peer's process has ended.
  void socket_event() noexcept;
  void peer_ended() noexcept;
  /// Called seldom: goes down if closing and all is delivered, or if the peer's words are corrupt.
  void settle() noexcept;
  /// Only in progress().
  void take_down(const Error& why) noexcept;
  /// false: it was asleep.
  bool fall_asleep() noexcept { return in_.fall_asleep(); }
  void wake() noexcept { in_.wake(); }
  /// Reports exposed payloads that were read, and returns how many; shares what is refused.
  std::size_t settle_exposed() noexcept;
  /// Nothing more can be exposed until something has been read.
  bool exposes_no_more() const noexcept { return exporter_ && exporter_->full(); }
  bool has_news_of_exposed() const noexcept {
    return exporter_ && (exporter_->was_read() || exporter_->refused());
  }

 private:
  enum class State : std::uint8_t { kDialling, kOpen, kClosing, kDown };

  core::BoxMemory outgoing() noexcept override { return parts_.segment.box(ring_); }
  core::BoxMemory incoming() noexcept override { return parts_.segment.box(1 - ring_); }
  void wake_reader() noexcept override;  // of a fast box: it was seen asleep
  core::Post post_rarely(const core::Frame& frame, std::size_t record) noexcept;
  core::Post expose(const core::Frame& frame) noexcept;
  bool deliver_exposed(const RingReader::Record& record) noexcept;
  bool read_remotely(const ExposureRecord& exposure, MutableBytes& place) noexcept;
  void wake_ring_reader() noexcept;
  core::Post ring_bell(std::uint32_t sleeping) noexcept;
  void take_down_corrupt() noexcept;
  void unwatch() noexcept;
  tl::unexpected<Error> cannot_watch(int error) const;

  // What post() touches, then what deliver() touches.
  RingWriter out_;
  const std::uint32_t payload_bytes_max_;  // caps()
  std::uint32_t rung_ = 0;                 // the sleep for which the bell was rung
  bool ordered_ = true;                    // the writer must order for itself, see sm_bell.h
  State state_ = State::kDialling;
  core::EndpointStats stats_;
  RingReader in_;
  core::EndpointSink* sink_ = nullptr;
  std::size_t payload_accepted_ = core::kUntrustedPayloadMax;

  SmTransport& transport_;
  const std::uint64_t id_;
  const ProcessId peer_;
  Parts parts_;
  std::size_t ring_ = 0;  // that we write
  Fd process_;            // pidfd: a fork of the peer may hold its socket open after its death
  std::optional<Exporter> exporter_;  // set by open(); in the segment of parts_
  RemoteReader reader_;
};

}  // namespace livebtl::sm
