// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_endpoint.h -- one connection: a queue pair, its credits both ways, and
// where its frames go.
//
// Life: a dialler waits for the peer's ticket; an admitted end is connected at once, but sends
// nothing before it has heard the dialler, which can take nothing sooner; then open; then down.
// Ownership: the engine owns the endpoint; the transport borrows it until ~VerbsEndpoint, and takes
// over the queue pair then, to end it in good order. Threads: the engine's lock.
#pragma once

#include <deque>

#include "transports/verbs/verbs_credits.h"
#include "transports/verbs/verbs_queue_pair.h"

namespace livebtl::verbs {

class VerbsTransport;

/// A receive buffer with a message in it.
struct Arrived {
  std::uint32_t buffer = 0;
  std::uint32_t bytes = 0;
};

class VerbsEndpoint final : public core::Endpoint {
 public:
  VerbsEndpoint(VerbsTransport& transport, std::unique_ptr<QueuePair> pair, bool dialled);
  ~VerbsEndpoint() override;

  void attach(core::EndpointSink& sink) noexcept override;
  core::Post post(const core::Frame& frame) noexcept override;
  std::size_t in_flight() const noexcept override { return pair_ ? pair_->frames() : 0; }
  void let_go() noexcept override {}  // copies whatever it takes, and asks for no place
  void trust() noexcept override;
  bool kernel_vouched() const noexcept override { return false; }
  core::EndpointStats stats() const noexcept override { return stats_; }
  Blob ticket() const override;
  void take_ticket(Bytes ticket) noexcept override;
  std::string describe() const override { return described_; }

  // For the transport.
  /// Connects the queue pair. Errors: kInvalid, kUnreachable.
  Status connect(const Ticket& peer);
  std::uint32_t number() const noexcept { return pair_->number(); }
  bool trusted() const noexcept { return payload_accepted_ == kPayloadBytesMax; }
  bool has_early() const noexcept { return sink_ != nullptr && !early_.empty(); }
  /// A message has arrived. true: a frame was handed on.
  bool arrived(const Arrived& message) noexcept;
  /// Hands on what came before attach(), at most that many. Returns how many.
  std::size_t deliver_early(std::size_t frames_max) noexcept;
  /// Something of ours has reached its device.
  void peer_answered() noexcept;
  /// What could not be said or reported in the midst of another call.
  void settle() noexcept;
  /// Nothing was heard for long: asks whether the other end is still there.
  void ask_if_silent(TimeNs now) noexcept;
  /// Goes down, in progress() alone.
  void take_down(const Error& why) noexcept;

 private:
  enum class State : std::uint8_t { kDialled, kAdmitted, kOpen, kDown };

  std::uint32_t credit() const noexcept { return peer_promised_ - sent_; }
  bool take_promise(std::uint32_t promised) noexcept;
  bool handle(const Arrived& message) noexcept;
  void buffer_free(const Arrived& message) noexcept;
  void tell_credit() noexcept;
  bool say(Kind kind) noexcept;
  void part() noexcept;

  VerbsTransport& transport_;
  std::unique_ptr<QueuePair> pair_;
  core::EndpointSink* sink_ = nullptr;
  State state_;
  bool payload_crc_ = true;
  // Messages, counted since the connection began; they may wrap.
  std::uint32_t sent_ = 0;
  std::uint32_t peer_promised_ = 0;
  std::uint32_t open_promises_ = 0;  // ours that the peer has not used yet
  std::uint32_t promised_ = 0;
  std::uint32_t told_ = 0;            // of promised_, by our last message
  std::uint32_t first_promised_ = 0;  // by our ticket
  bool parting_ = false;              // our last word is said
  std::size_t payload_accepted_ = core::kUntrustedPayloadMax;
  TimeNs heard_ = 0;
  std::deque<Arrived> early_;  // came before attach()
  core::EndpointStats stats_;
  Error failed_;  // why it is to go down; kOk: it is not
  std::string described_;
};

}  // namespace livebtl::verbs
