// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_endpoint.h -- one connection: posts go out, frames come in, and at most one
// on_down().
//
// Life: dialling -> open -> broken (known here) -> down (reported to the sink). An accepted one
// owes its preamble until it is open.
// Sending: a post writes straight to the socket; what the socket does not take waits in the queue.
// First frames of a dialler follow its preamble; the acceptor's preamble goes with its first frame.
// Receiving: the framer says where to read to and what it found.
// Threads: under the engine's lock. Ownership: the engine's; registered in the transport's Shared
// while it lives.
#pragma once

#include "transports/tcp/tcp_dialler.h"
#include "transports/tcp/tcp_shared.h"

namespace livebtl::tcp {

class TcpEndpoint final : public core::Endpoint, public PollTarget {
 public:
  TcpEndpoint(Shared& shared, std::unique_ptr<Dialler> dialler);
  /// Accepted; its preamble was good.
  TcpEndpoint(Shared& shared, Fd fd, const std::string& from, std::uint64_t peer_node);
  TcpEndpoint(const TcpEndpoint&) = delete;
  TcpEndpoint& operator=(const TcpEndpoint&) = delete;
  ~TcpEndpoint() override;

  void attach(core::EndpointSink& sink) noexcept override;
  core::Post post(const core::Frame& frame) noexcept override;
  std::size_t in_flight() const noexcept override { return out_.frames() + early_.frames_sent; }
  void let_go() noexcept override {
    out_.own_borrowed();
    framer_.own_place();
  }
  void trust() noexcept override;
  bool kernel_vouched() const noexcept override { return false; }
  core::EndpointStats stats() const noexcept override;
  std::string describe() const override { return described_; }

  void on_ready(Turn& turn) noexcept override { move(turn); }
  /// Does what can be done now.
  void move(Turn& turn) noexcept;
  /// As move(), for an endpoint on the waiting list; takes it off.
  void move_waiting(Turn& turn) noexcept;

 private:
  enum class State : std::uint8_t { kDialling, kOwesPreamble, kOpen, kBroken, kDown };

  void dial(Turn& turn) noexcept;
  void become_open(Fd fd, std::uint64_t peer_node, State state) noexcept;
  bool crc_towards(std::uint64_t peer_node) const noexcept;
  core::Post post_early(const core::Frame& frame) noexcept;
  void send_preamble(int flags) noexcept;
  /// No frame of ours goes with it.
  void pay_preamble() noexcept {
    if (state_ == State::kOwesPreamble) send_preamble(0);
  }
  void watch(int fd, std::uint32_t events) noexcept;
  void unwatch(int fd) noexcept;
  int watched_fd() const noexcept;

  core::Post enqueue(const core::Frame& frame) noexcept;
  core::Post enqueue_rest(const core::Frame& frame, Bytes head, std::size_t written) noexcept;
  std::size_t write_frame(Head& head, Bytes payload) noexcept;
  void set_backlogged(bool backlogged) noexcept;
  std::size_t write_some(std::span<iovec> pieces) noexcept;
  void flush(Turn& turn) noexcept;

  bool receive(Turn& turn) noexcept;
  enum class Read : std::uint8_t { kSome, kAll, kNothing };
  Read read_once() noexcept;

  void fail_with(Errc code, std::string text) noexcept;
  void go_down(Turn& turn) noexcept;
  void wait_for_turn() noexcept;
  void leave_untrusted() noexcept;

  Shared& shared_;
  core::EndpointSink* sink_ = nullptr;
  State state_;
  bool payload_crc_ = false;
  bool backlogged_ = false;
  bool on_waiting_list_ = false;
  bool counted_untrusted_ = false;  // unauthenticated so far
  bool read_ended_ = false;
  Fd fd_;
  Poller::Token token_ = Poller::Token::kNone;
  std::uint32_t events_ = 0;  // watched for
  Framer framer_;
  OutQueue out_;
  core::EndpointStats stats_;
  core::EndpointStats early_;  // what goes with the preamble, while no connection is made
  std::unique_ptr<Dialler> dialler_;
  Error error_;  // kBroken
  std::string described_;
};

}  // namespace livebtl::tcp
