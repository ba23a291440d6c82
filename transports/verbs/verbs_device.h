// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_device.h -- an open device: its protection domain, the one completion
// queue, the shared receive queue, and the send and receive buffers.
//
// Ownership: the destructor releases all that the device gave; its calls may fail (the device may
// be gone) and do not wait. Queue pairs are destroyed before that. Threads: the engine's lock.
#pragma once

#include <memory>
#include <span>

#include "base/fd.h"
#include "transports/verbs/verbs_memory.h"
#include "transports/verbs/verbs_ports.h"

namespace livebtl::verbs {

class QueuePair;

/// Sends that may be under way at once on all queue pairs together, and how many of them are
/// reserved for control messages.
inline constexpr std::uint32_t kSendsMax = 256;
inline constexpr std::uint32_t kControlSends = 32;

/// A work request's id, which its completion carries.
struct WorkId {
  static constexpr std::uint64_t kReceive = std::uint64_t{1} << 63;
  static bool is_receive(std::uint64_t id) noexcept { return (id & kReceive) != 0; }
  static std::uint32_t buffer(std::uint64_t id) noexcept { return static_cast<std::uint32_t>(id); }
};

/// What a send is for. Frames and control messages are counted per queue pair.
enum class Use : std::uint8_t { kFrame, kControl, kExposed, kRead };

/// A send under way. A queue pair may be destroyed before its completions are read: then the send
/// has no owner, and is free once the completion queue has been seen empty.
struct Send {
  QueuePair* owner = nullptr;
  std::uint32_t use = 0;     // raised with each use: a late completion of an earlier one is ignored
  std::int32_t buffer = -1;  // index of a send buffer; -1: none
  bool busy = false;
  Use use_for = Use::kFrame;
};

class Device {
 public:
  /// Errors: as open_port(); kNoMemory, kSystem, kUnsupported, kDown.
  static Result<std::unique_ptr<Device>> open(Calls& calls, const Wish& wish);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  Calls& calls() const noexcept { return calls_; }
  ibv_context* context() const noexcept { return port_.context; }
  ibv_pd* domain() const noexcept { return domain_; }
  ibv_comp_channel* channel() const noexcept { return channel_; }
  ibv_cq* completions() const noexcept { return completions_; }
  ibv_srq* receives() const noexcept { return receives_; }
  const OpenPort& port() const noexcept { return port_; }
  std::string name() const { return port_.device + ":" + std::to_string(port_.port); }
  std::uint32_t connections_max() const noexcept { return connections_max_; }
  /// Looks at the port again. Errors: as look_at_port().
  Status refresh(int gid_index);
  /// Descriptors that show completions and events. Non-blocking.
  int completion_fd() const noexcept { return channel_->fd; }
  int event_fd() const noexcept { return port_.context->async_fd; }
  std::vector<int> descriptors() const;
  /// In its own buffers.
  std::size_t pinned_bytes() const noexcept {
    return (receive_memory_->count() + send_memory_->count()) * kBufferBytes;
  }

  /// Adds receive buffers to the shared queue. Returns how many. Errors: kNoMemory, kLimit, kDown.
  Result<std::uint32_t> add_receives();
  Bytes received(std::uint32_t buffer, std::size_t bytes) const noexcept {
    return {receive_memory_->at(buffer), std::min(bytes, kBufferBytes)};
  }
  /// A receive buffer as the target of a read, after its message was taken out.
  std::byte* receive_buffer(std::uint32_t buffer) const noexcept {
    return receive_memory_->at(buffer);
  }
  std::uint32_t receive_key(std::uint32_t buffer) const noexcept {
    return receive_memory_->key(buffer);
  }
  /// The buffer is free again. false: the device does not take it.
  bool post_receive(std::uint32_t buffer) noexcept;

  /// This many connections share the sends from now on; adds buffers for them if memory permits.
  void share_among(std::size_t connections) noexcept;
  /// What one connection may have under way: frames, and sends with a buffer. What a dead peer
  /// holds until its connection ends leaves enough for all others.
  std::uint32_t frames_each() const noexcept { return frames_each_; }
  std::uint32_t buffers_each() const noexcept { return buffers_each_; }
  /// nullptr: too many are under way. with_buffer: it has one of kBufferBytes.
  Send* begin_send(QueuePair& owner, Use use, bool with_buffer) noexcept;
  /// The id of its work request.
  std::uint64_t id_of(const Send& send) const noexcept;
  /// The send that a completion belongs to; nullptr: to an earlier use.
  Send* find_send(std::uint64_t id) noexcept;
  void end_send(Send& send) noexcept;
  std::byte* send_buffer(const Send& send) const noexcept {
    return send_memory_->at(static_cast<std::uint32_t>(send.buffer));
  }
  std::uint32_t send_key(const Send& send) const noexcept {
    return send_memory_->key(static_cast<std::uint32_t>(send.buffer));
  }
  /// The queue pair is destroyed: its sends have no owner any more.
  void disown(const QueuePair& owner) noexcept;
  /// All completions of queue pairs destroyed so far have been read.
  void completions_seen_empty() noexcept;

 private:
  Device(Calls& calls, OpenPort port) noexcept;
  Status set_up();
  Status make_queues();
  Status add_send_buffers();

  Calls& calls_;
  OpenPort port_;
  std::uint32_t connections_max_ = 0;
  std::uint32_t receives_max_ = 0;
  ibv_pd* domain_ = nullptr;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* completions_ = nullptr;
  ibv_srq* receives_ = nullptr;
  std::unique_ptr<Memory> receive_memory_, send_memory_;
  std::vector<Send> sends_;
  std::vector<std::uint32_t> free_sends_;
  std::vector<std::int32_t> free_buffers_;
  std::uint32_t frames_each_ = 0, buffers_each_ = 0;
  bool disowned_ = false;  // some sends have no owner
};

}  // namespace livebtl::verbs
