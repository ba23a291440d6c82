// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_endpoint.h -- one connection: a queue pair, its credits both ways, and
// where its frames go.
//
// Life: a dialler waits for the peer's ticket; an admitted end is connected at once, but sends
// nothing before it has heard the dialler, which can take nothing sooner; then open; then down, at
// times by way of ending: that is told in the next progress().
// Large payloads are lent: the peer reads them from where they lie, one after the other, and says
// when it has (verbs_lending.cc). What comes behind one waits, as frames are in order.
// Ownership: the engine owns the endpoint; the transport borrows it until ~VerbsEndpoint, and takes
// over the queue pair then, to end it in good order. Threads: the engine's lock.
#pragma once

#include <deque>
#include <optional>

#include "transports/messages/credits.h"
#include "transports/verbs/verbs_fetch.h"

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
  std::size_t in_flight() const noexcept override {
    return pair_ ? pair_->frames() + lent_.size() : 0;
  }
  void let_go() noexcept override;
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
  bool has_early() const noexcept { return !waits_ && !early_.empty(); }
  /// A message has arrived. true: a frame was handed on.
  bool arrived(const Arrived& message) noexcept;
  /// Hands on what had to wait, at most that many. Returns how many.
  std::size_t deliver_early(std::size_t frames_max) noexcept;
  /// A read of a lent payload is done. true: a frame was handed on.
  bool read_done() noexcept;
  /// Something of ours has reached its device.
  void peer_answered() noexcept;
  /// What could not be said or reported in the midst of another call.
  void settle() noexcept;
  /// Nothing was heard for long: asks whether the other end is still there.
  void ask_if_silent(TimeNs now) noexcept;
  /// Goes down, in progress() alone.
  void take_down(const Error& why) noexcept;

 private:
  enum class State : std::uint8_t { kDialled, kAdmitted, kOpen, kEnding, kDown };
  /// A payload of ours that the peer fetches.
  struct Loan {
    Registration region;
    std::uint64_t cookie = 0;
  };

  std::uint32_t credit() const noexcept { return peer_promised_ - sent_; }
  bool take_promise(std::uint32_t promised) noexcept;
  bool handle(const Arrived& message) noexcept;
  bool take(const Arrived& arrived, const Message& message) noexcept;
  void buffer_free(std::uint32_t buffer) noexcept;
  void tell() noexcept;
  bool say(Kind kind) noexcept;
  void part() noexcept;

  // verbs_lending.cc
  core::Post lend(const core::Frame& frame) noexcept;
  void take_back(std::uint32_t fetched) noexcept;
  bool begin_fetch(const Arrived& arrived, const Message& message) noexcept;
  bool deliver_fetched() noexcept;
  void look_for_bye(const Arrived& message) noexcept;
  void end_registrations() noexcept;

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
  bool waits_ = true;  // what comes now: before attach(), or while something is fetched
  std::size_t payload_accepted_ = core::kUntrustedPayloadMax;
  TimeNs heard_ = 0;
  std::deque<Arrived> early_;       // had to wait
  std::vector<Loan> lent_;          // not fetched yet, in the order of their frames
  std::uint32_t lent_fetched_ = 0;  // of ours in all, by the peer's last word
  std::optional<Fetch> fetch_;
  std::uint32_t fetched_ = 0;  // of the peer's, in all
  std::uint32_t fetched_told_ = 0;
  core::EndpointStats stats_;
  Error failed_;  // why it is to go down; kOk: it is not
  std::string described_;
};

}  // namespace livebtl::verbs
