// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_endpoint.h -- one connection: a pair of tokens on libfabric endpoints that all
// connections share. Posts messages and puts arrivals in order. Its states and credits are in
// transports/messages/connection.h.
//
// libfabric reports whether a message was sent, but when one of its own connections breaks, it may
// lose messages all the same and go on with later ones. So a message that is missing for
// kMissingTime ends the connection, as does a send that fails.
//
// Ownership: the engine owns the endpoint; the transport borrows it until ~OfiEndpoint.
// Threads: the engine's lock.
#pragma once

#include "transports/messages/connection.h"
#include "transports/ofi/ofi_remote_read.h"
#include "transports/ofi/ofi_reorder.h"

namespace livebtl::ofi {

class OfiTransport;

using messages::Kind;
using messages::kPayloadBytesMax;

/// For people, who see few connections at a time.
inline std::string short_name(std::uint64_t token) { return std::to_string(token % 100'000); }

/// After its route.
inline Bytes message_bytes(const Arrived& arrived) noexcept {
  return {arrived.buffer->bytes + sizeof(Route), arrived.bytes - sizeof(Route)};
}

class OfiEndpoint final : public core::Endpoint, core::TicketEnd, messages::DeviceSide {
 public:
  OfiEndpoint(OfiTransport& transport, std::uint64_t token, bool dialled);
  ~OfiEndpoint() override;

  void attach(core::EndpointSink& sink) noexcept override { connection_.attach(sink); }
  core::Post post(const core::Frame& frame) noexcept override;
  std::size_t in_flight() const noexcept override { return frames_ + exposed_.size(); }
  void let_go() noexcept override;
  void trust() noexcept override { connection_.trust(); }
  bool kernel_vouched() const noexcept override { return false; }
  core::EndpointStats stats() const noexcept override { return connection_.stats(); }
  core::TicketEnd* by_ticket() noexcept override { return this; }
  Blob ticket() const override;
  void take_ticket(Bytes ticket) noexcept override;
  std::string describe() const override { return connection_.name(); }

  // For the transport.
  /// Errors: kInvalid, kUnreachable.
  Status connect(const Ticket& peer);
  std::uint64_t token() const noexcept { return token_; }
  bool is_open() const noexcept { return connection_.is_open(); }
  /// Among the domain's. Requires: it has been open.
  std::uint32_t peer() const noexcept { return peer_; }
  bool trusted() const noexcept { return connection_.trusted(); }
  std::uint32_t open_grants() const noexcept { return connection_.open_grants(); }
  /// A message has arrived, perhaps out of order. deliver() hands it on.
  void arrived(std::uint32_t number, const Arrived& message) noexcept;
  bool has_ready() const noexcept {
    return connection_.sink() != nullptr && is_open() && !read_ && !torn_ && window_.ready();
  }
  /// Hands on messages that are in order, at most that many frames. Returns how many.
  std::size_t deliver(std::size_t frames_max) noexcept;
  /// A send of ours has ended. code: 0, or a libfabric error.
  void sent(Use use, long code) noexcept;
  /// A read of an exposed buffer has ended. code: 0, or a libfabric error. Returns how many frames
  /// were handed on.
  std::size_t read_done(long code) noexcept;
  /// Sends or reports what another call could not.
  void settle() noexcept;
  /// From time to time: is a message missing, or the peer silent?
  void look(TimeNs now) noexcept;
  /// Is look() timing anything?
  bool waits() const noexcept {
    return is_open() && (window_.has_gap() || unsent_since_ != 0 || read_ != nullptr);
  }
  /// Goes down. Only in progress().
  void take_down(const Error& why) noexcept { connection_.take_down(why); }

 private:
  // messages::DeviceSide
  bool post_control(messages::Kind kind, std::uint32_t granted,
                    std::uint32_t read) noexcept override;
  bool control_under_way() const noexcept override { return controls_ != 0; }
  void settle_later() noexcept override;
  void send_bye() noexcept override;
  void release() noexcept override;

  Error down(const char* what, long code) const;
  Route next_route() const noexcept { return {peer_token_, connection_.next_number(), 0}; }
  bool may_post() const noexcept;
  core::Post send_frame(Buffer& buffer, std::size_t bytes, const core::Frame& frame,
                        core::Post how) noexcept;
  bool send(Buffer& buffer, std::size_t bytes) noexcept;
  bool handle(const Arrived& arrived) noexcept;
  void buffer_free(Buffer& buffer) noexcept;
  void drop_waiting() noexcept;

  // ofi_zero_copy.cc
  core::Post expose(const core::Frame& frame) noexcept;
  bool begin_read(Buffer& buffer, const messages::Message& message) noexcept;
  void post_read() noexcept;
  bool deliver_read() noexcept;
  void look_at_read(TimeNs now) noexcept;
  void end_zero_copy(const char* why) noexcept;

  OfiTransport& transport_;
  const std::uint64_t token_;
  messages::Connection connection_;
  bool has_peer_ = false;
  std::uint32_t peer_ = 0;  // among the domain's
  std::uint64_t peer_token_ = 0;
  std::uint32_t frames_ = 0, controls_ = 0;  // under way
  ReorderWindow window_;
  std::vector<messages::ExposedBuffer<Registration>> exposed_;  // not read yet, in order
  std::unique_ptr<RemoteRead> read_;                            // messages after it have to wait
  bool torn_ = false;                                           // read_ was given up
  TimeNs asked_ = 0;                                            // last question to a silent peer
  TimeNs unsent_since_ = 0;                                     // 0: the last send was taken
};

}  // namespace livebtl::ofi
