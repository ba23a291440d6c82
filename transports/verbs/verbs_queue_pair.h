// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_queue_pair.h -- one reliable connection's queue pair: its states, and
// what is posted on it. Threads: the engine's lock.
#pragma once

#include "transports/verbs/verbs_device.h"

namespace livebtl::verbs {

class QueuePair {
 public:
  /// Makes one that can be connected. Errors: kNoMemory, kSystem.
  static Result<std::unique_ptr<QueuePair>> make(Device& device, std::uint32_t first_packet);
  /// Destroys it. Messages that have arrived unread may be lost with their buffers, unless it was
  /// broken up and the completion queue has been seen empty since.
  ~QueuePair();
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  std::uint32_t number() const noexcept { return pair_->qp_num; }
  std::uint32_t first_packet() const noexcept { return first_packet_; }
  /// Errors: kUnreachable.
  Status connect(const Ticket& peer);
  /// Nothing is sent or received any more.
  void break_up() noexcept;

  /// false: no room now, or never again: see error(). A frame that was taken may also set error().
  bool send_frame(const core::Frame& frame, std::uint32_t granted, bool payload_crc) noexcept;
  /// A frame whose payload is exposed.
  bool send_exposed(Bytes header, const RemoteBuffer& remote, std::uint32_t granted) noexcept;
  bool send_control(Kind kind, std::uint32_t granted, std::uint32_t read) noexcept;
  /// Reads from the peer's memory. One at a time.
  bool read(const ibv_sge& to, std::uint64_t from, std::uint32_t key) noexcept;
  /// Writes zero bytes to the peer's memory: is its queue pair still there? The device there
  /// answers, whatever the process does; no credit is used.
  bool send_nothing() noexcept;
  /// The errno of a send that the device refused or could not be told of; 0: none.
  int error() const noexcept { return error_; }

  /// A send's completion was read.
  void completed(const Send& send) noexcept;
  std::uint32_t sends() const noexcept { return sends_; }
  std::uint32_t frames() const noexcept { return frames_; }
  std::uint32_t controls() const noexcept { return controls_; }

 private:
  QueuePair(Device& device, ibv_qp* pair, std::uint32_t first_packet,
            std::uint32_t inline_bytes) noexcept;
  Status become_ready();
  int make_receive(const Ticket& peer);
  int make_send();
  bool post(Send& send, ibv_send_wr& work) noexcept;
  template <class Encode>
  bool send_message(Use use, std::size_t bytes, Encode encode) noexcept;

  Device& device_;
  ibv_qp* pair_;
  std::uint32_t first_packet_;
  std::uint32_t inline_bytes_;  // messages up to that many bytes are copied by the device's driver
  std::uint32_t sends_ = 0;     // under way
  std::uint32_t frames_ = 0;    // of them
  std::uint32_t controls_ = 0;  // of them
  std::uint32_t buffers_ = 0;   // of them, with a send buffer
  int error_ = 0;
};

}  // namespace livebtl::verbs
