// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_endpoint.h -- one connection over a queue pair: posts messages and keeps
// arrivals in order. Its states and credits are in transports/messages/connection.h.
//
// An admitted end is connected at once, but sends nothing before it has heard from the dialler,
// which can receive nothing sooner. Large payloads are exposed: the peer reads them from where they
// lie, one after the other, and reports that it has (verbs_zero_copy.cc). Messages that follow one
// wait, as frames are in order.
//
// Ownership: the engine owns the endpoint; the transport borrows it until ~VerbsEndpoint, and then
// takes over the queue pair to end it properly.
// Threads: the engine's lock.
#pragma once

#include <deque>
#include <optional>

#include "transports/messages/connection.h"
#include "transports/verbs/verbs_remote_read.h"

namespace livebtl::verbs {

class VerbsTransport;

/// A receive buffer with a message in it.
struct Arrived {
  std::uint32_t buffer = 0;
  std::uint32_t bytes = 0;
};

class VerbsEndpoint final : public core::Endpoint, core::TicketEnd, messages::DeviceSide {
 public:
  VerbsEndpoint(VerbsTransport& transport, std::unique_ptr<QueuePair> pair, bool dialled);
  ~VerbsEndpoint() override;

  void attach(core::EndpointSink& sink) noexcept override;
  core::Post post(const core::Frame& frame) noexcept override;
  std::size_t in_flight() const noexcept override {
    return pair_ ? pair_->frames() + exposed_.size() : 0;
  }
  void let_go() noexcept override;
  void trust() noexcept override { connection_.trust(); }
  bool kernel_vouched() const noexcept override { return false; }
  core::EndpointStats stats() const noexcept override { return connection_.stats(); }
  core::TicketEnd* by_ticket() noexcept override { return this; }
  Blob ticket() const override;
  void take_ticket(Bytes ticket) noexcept override;
  std::string describe() const override { return connection_.name(); }

  // For the transport.
  /// Connects the queue pair. Errors: kInvalid, kUnreachable.
  Status connect(const Ticket& peer);
  std::uint32_t number() const noexcept { return pair_->number(); }
  bool trusted() const noexcept { return connection_.trusted(); }
  bool has_ready() const noexcept { return !waits_ && !early_.empty(); }
  /// A message has arrived. true: a frame was handed on.
  bool arrived(const Arrived& message) noexcept;
  /// Hands on what had to wait, at most that many frames. Returns how many.
  std::size_t deliver(std::size_t frames_max) noexcept;
  /// A read of an exposed buffer is done. true: a frame was handed on.
  bool read_done() noexcept;
  /// Something of ours has reached the peer's device.
  void peer_answered() noexcept;
  /// Sends or reports what another call could not.
  void settle() noexcept;
  /// After a long silence: asks whether the other end is still there.
  void ask_if_silent(TimeNs now) noexcept;
  /// Goes down. Only in progress().
  void take_down(const Error& why) noexcept { connection_.take_down(why); }

 private:
  // messages::DeviceSide
  bool post_control(Kind kind, std::uint32_t granted, std::uint32_t read) noexcept override;
  bool control_under_way() const noexcept override { return pair_->controls() != 0; }
  void settle_later() noexcept override;
  void send_bye() noexcept override { bye_sent_ = connection_.send_control(Kind::kBye); }
  void release() noexcept override;

  Bytes message_bytes(const Arrived& message) const noexcept;
  core::Post posted(bool taken, const core::Frame& frame, core::Post how) noexcept;
  void end_if_failed() noexcept;
  bool handle(const Arrived& message) noexcept;
  void buffer_free(std::uint32_t buffer) noexcept;

  // verbs_zero_copy.cc
  core::Post expose(const core::Frame& frame) noexcept;
  bool begin_read(const Arrived& arrived, const Message& message) noexcept;
  void post_read() noexcept;
  bool deliver_read() noexcept;
  void end_registrations() noexcept;

  VerbsTransport& transport_;
  std::unique_ptr<QueuePair> pair_;
  messages::Connection connection_;
  bool bye_sent_ = false;
  bool waits_ = true;          // arrivals wait: before attach(), or during a remote read
  std::deque<Arrived> early_;  // had to wait
  std::vector<messages::ExposedBuffer<Registration>> exposed_;  // not read yet, in order
  std::optional<RemoteRead> read_;
};

}  // namespace livebtl::verbs
