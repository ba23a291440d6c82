// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_endpoint.h -- one connection: a pair of tokens on libfabric endpoints that all
// connections share, its credits both ways, and its messages put in order.
//
// Life: a dialler waits for the peer's ticket; an admitted end sends nothing before it has heard
// the dialler; then open; then down, at times by way of ending: that is told in the next
// progress(). libfabric says of a message that it was sent or that it was not, but may lose some
// behind that when a connection of its own breaks, and goes on with the next ones: a message that
// is missing for kMissingTime ends the connection, as does a send that fails. Ownership: the engine
// owns the endpoint; the transport borrows it until ~OfiEndpoint. Threads: the engine's lock.
#pragma once

#include "transports/ofi/ofi_fetch.h"
#include "transports/ofi/ofi_row.h"

namespace livebtl::ofi {

class OfiTransport;

using messages::kPayloadBytesMax;

/// For people, who have few connections before them.
inline std::string short_name(std::uint64_t token) { return std::to_string(token % 100'000); }

class OfiEndpoint final : public core::Endpoint {
 public:
  OfiEndpoint(OfiTransport& transport, std::uint64_t token, bool dialled);
  ~OfiEndpoint() override;

  void attach(core::EndpointSink& sink) noexcept override;
  core::Post post(const core::Frame& frame) noexcept override;
  std::size_t in_flight() const noexcept override { return frames_ + lent_.size(); }
  void let_go() noexcept override;
  void trust() noexcept override { payload_accepted_ = kPayloadBytesMax; }
  bool kernel_vouched() const noexcept override { return false; }
  core::EndpointStats stats() const noexcept override { return stats_; }
  Blob ticket() const override;
  void take_ticket(Bytes ticket) noexcept override;
  std::string describe() const override { return described_; }

  // For the transport.
  /// Errors: kInvalid, kUnreachable.
  Status connect(const Ticket& peer);
  std::uint64_t token() const noexcept { return token_; }
  bool is_open() const noexcept { return state_ == State::kOpen; }
  /// Of the domain's. Requires: it has been open.
  std::uint32_t peer() const noexcept { return peer_; }
  bool trusted() const noexcept { return payload_accepted_ == kPayloadBytesMax; }
  /// A message has arrived, in whatever order. It is handed on by deliver().
  void arrived(std::uint32_t number, const Arrived& message) noexcept;
  bool has_ready() const noexcept {
    return sink_ != nullptr && state_ == State::kOpen && !fetch_ && !torn_ && row_.ready();
  }
  /// Hands on what is there in order, at most that many frames. Returns how many.
  std::size_t deliver(std::size_t frames_max) noexcept;
  /// A send of ours is over. code: 0, or an error of libfabric's.
  void sent(Use use, long code) noexcept;
  /// A read of a lent payload is over. code: 0, or an error of libfabric's. Returns the frames
  /// that were handed on.
  std::size_t read_done(long code) noexcept;
  /// What could not be said or reported in the midst of another call.
  void settle() noexcept;
  /// From time to time: is a message missing, or the peer silent?
  void look(TimeNs now) noexcept;
  /// Goes down, in progress() alone.
  void take_down(const Error& why) noexcept;

 private:
  enum class State : std::uint8_t { kDialled, kAdmitted, kOpen, kDown };
  /// A payload of ours that the peer fetches.
  struct Loan {
    Registration registration;
    std::uint64_t cookie = 0;
  };

  bool may_post() const noexcept;
  std::uint32_t credit() const noexcept { return peer_promised_ - sent_; }
  bool take_promise(std::uint32_t promised) noexcept;
  bool handle(const Arrived& arrived) noexcept;
  void buffer_free(Buffer& buffer) noexcept;
  bool send(Buffer& buffer, std::size_t bytes) noexcept;
  void tell() noexcept;
  bool say(messages::Kind kind) noexcept;
  void part() noexcept;
  void drop_waiting() noexcept;

  // ofi_lending.cc
  core::Post lend(const core::Frame& frame) noexcept;
  void take_back(std::uint32_t fetched) noexcept;
  bool begin_fetch(Buffer& buffer, const messages::Message& message) noexcept;
  void post_fetch() noexcept;
  bool deliver_fetched() noexcept;
  void look_for_bye(const Arrived& message) noexcept;
  void look_at_fetch(TimeNs now) noexcept;
  void end_lending(const char* why) noexcept;

  OfiTransport& transport_;
  const std::uint64_t token_;
  core::EndpointSink* sink_ = nullptr;
  State state_;
  bool payload_crc_ = true;
  bool has_peer_ = false;
  bool peer_gone_ = false;  // it has said its last word: nothing is sent to it any more
  std::uint32_t peer_ = 0;  // of the domain's
  std::uint64_t peer_token_ = 0;
  // Messages, counted since the connection began; they may wrap.
  std::uint32_t sent_ = 0;
  std::uint32_t peer_promised_ = 0;
  std::uint32_t open_promises_ = 0;  // ours that the peer has not used yet
  std::uint32_t promised_ = 0;
  std::uint32_t told_ = 0;            // of promised_, by our last message
  std::uint32_t first_promised_ = 0;  // by our ticket
  std::size_t payload_accepted_ = core::kUntrustedPayloadMax;
  std::uint32_t frames_ = 0, words_ = 0;  // under way
  Row row_;
  std::vector<Loan> lent_;          // not fetched yet, in the order of their frames
  std::uint32_t lent_fetched_ = 0;  // of ours in all, by the peer's last word
  std::unique_ptr<Fetch> fetch_;    // what comes behind it in the row has to wait
  bool torn_ = false;               // it was given up
  std::uint32_t fetched_ = 0;       // of the peer's, in all
  std::uint32_t fetched_told_ = 0;
  TimeNs heard_ = 0;
  TimeNs asked_ = 0;         // as nothing was heard
  TimeNs unsent_since_ = 0;  // 0: the last send was taken
  core::EndpointStats stats_;
  Error failed_;  // why it is to go down; kOk: it is not
  std::string described_;
};

}  // namespace livebtl::ofi
