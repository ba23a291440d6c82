// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_device.cc -- see verbs_device.h.
#include "transports/verbs/verbs_device.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/assert.h"
#include "transports/messages/credits.h"
#include "transports/verbs/verbs_errors.h"

namespace livebtl::verbs {
namespace {

constexpr std::uint32_t kConnectionsMax = 512;

bool unblock(int fd) noexcept {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

}  // namespace

Device::Device(Calls& calls, OpenPort port) noexcept : calls_(calls), port_(std::move(port)) {}

Result<std::unique_ptr<Device>> Device::open(Calls& calls, const Wish& wish) {
  auto port = open_port(calls, wish);
  if (!port) return tl::unexpected(port.error());
  std::unique_ptr<Device> device(new Device(calls, std::move(*port)));
  if (const Status ready = device->set_up(); !ready) return tl::unexpected(ready.error());
  return device;
}

// The reverse order of set_up(). Whatever fails has gone with the device.
Device::~Device() {
  if (receives_ != nullptr) calls_.destroy_srq(receives_);
  if (completions_ != nullptr) calls_.destroy_cq(completions_);
  if (channel_ != nullptr) calls_.destroy_comp_channel(channel_);
  receive_memory_.reset();
  send_memory_.reset();
  if (domain_ != nullptr) calls_.dealloc_pd(domain_);
  calls_.close_device(port_.context);
}

Status Device::set_up() {
  ibv_device_attr limits{};
  if (const int error = calls_.query_device(port_.context, &limits); error != 0)
    return fail(Errc::kDown, "verbs: " + port_.device + " cannot be queried: " + errno_text(error));
  const auto at_most = [](int limit) { return static_cast<std::uint32_t>(std::max(0, limit)); };
  receives_max_ = std::min({at_most(limits.max_srq_wr),
                            at_most(limits.max_cqe) - std::min(at_most(limits.max_cqe), kSendsMax),
                            messages::kSharedBuffers + messages::kCreditFloor * kConnectionsMax});
  if (limits.max_srq == 0 || receives_max_ < messages::kSharedBuffers + messages::kCreditFloor) {
    return fail(Errc::kUnsupported, "verbs: " + port_.device +
                                        " has no shared receive queue that is large enough; use "
                                        "another device or tcp");
  }
  connections_max_ = std::min((receives_max_ - messages::kSharedBuffers) / messages::kCreditFloor,
                              at_most(limits.max_qp));
  if (Status made = make_queues(); !made) return made;
  receive_memory_ = std::make_unique<Memory>(calls_, domain_);
  send_memory_ = std::make_unique<Memory>(calls_, domain_);
  if (Status added = add_send_buffers(); !added) return added;
  sends_.resize(kSendsMax);
  for (std::uint32_t i = 0; i < kSendsMax; ++i) free_sends_.push_back(i);
  share_among(1);
  return {};
}

Status Device::add_send_buffers() {
  const std::uint32_t first = send_memory_->count();
  if (Status added = send_memory_->add_piece(); !added) return added;
  for (std::uint32_t i = first; i < send_memory_->count(); ++i)
    free_buffers_.push_back(static_cast<std::int32_t>(i));
  return {};
}

// With two each, the device works on one while the next is filled. Where little memory can be
// locked, it is left to new connections.
void Device::share_among(std::size_t connections) noexcept {
  constexpr std::uint32_t kEachMin = 2;
  constexpr std::size_t kOfLockable = 8;
  const auto ends = static_cast<std::uint32_t>(std::max<std::size_t>(1, connections));
  const std::size_t most = calls_.lockable_bytes() / kOfLockable / kBufferBytes;
  // Earlier connections may have taken them all.
  const auto too_few = [&] {
    return send_memory_->count() < ends * kEachMin || free_buffers_.size() < kEachMin;
  };
  while (too_few() && send_memory_->count() + Memory::kPieceBuffers <= most && add_send_buffers())
    continue;
  frames_each_ = std::max(kEachMin, (kSendsMax - kControlSends) / ends);
  buffers_each_ = std::max(kEachMin, send_memory_->count() / ends);
}

Status Device::make_queues() {
  domain_ = calls_.alloc_pd(port_.context);
  if (domain_ == nullptr) return tl::unexpected(cannot_make("a protection domain", errno));
  channel_ = calls_.create_comp_channel(port_.context);
  if (channel_ == nullptr) return tl::unexpected(cannot_make("a completion channel", errno));
  // Room for the completion of every buffer and every send: the queue never overruns.
  const auto entries = static_cast<int>(receives_max_ + kSendsMax);
  completions_ = calls_.create_cq(port_.context, entries, channel_);
  if (completions_ == nullptr) return tl::unexpected(cannot_make("a completion queue", errno));
  ibv_srq_init_attr wanted{};
  wanted.attr.max_wr = receives_max_;
  wanted.attr.max_sge = 1;
  receives_ = calls_.create_srq(domain_, &wanted);
  if (receives_ == nullptr) return tl::unexpected(cannot_make("a shared receive queue", errno));
  if (!unblock(channel_->fd) || !unblock(port_.context->async_fd))
    return tl::unexpected(cannot_make("descriptors that do not block", errno));
  return {};
}

Status Device::refresh(int gid_index) {
  auto now = look_at_port(calls_, port_.context, port_.port, gid_index);
  if (!now) return tl::unexpected(now.error());
  port_.state = *now;
  return {};
}

std::vector<int> Device::descriptors() const {
  return {port_.context->cmd_fd, port_.context->async_fd, channel_->fd};
}

Result<std::uint32_t> Device::add_receives() {
  const std::uint32_t first = receive_memory_->count();
  if (first + Memory::kPieceBuffers > receives_max_)
    return fail(Errc::kLimit, "verbs: " + port_.device + " has no room for more connections");
  if (const Status added = receive_memory_->add_piece(); !added)
    return tl::unexpected(added.error());
  for (std::uint32_t i = first; i < receive_memory_->count(); ++i) {
    if (!post_receive(i))
      return fail(Errc::kDown, "verbs: " + port_.device + " takes no receive buffers any more");
  }
  return Memory::kPieceBuffers;
}

bool Device::post_receive(std::uint32_t buffer) noexcept {
  ibv_sge piece{reinterpret_cast<std::uint64_t>(receive_memory_->at(buffer)),
                static_cast<std::uint32_t>(kBufferBytes), receive_memory_->key(buffer)};
  ibv_recv_wr work{};
  work.wr_id = WorkId::kReceive | buffer;
  work.sg_list = &piece;
  work.num_sge = 1;
  return calls_.post_srq_recv(receives_, &work) == 0;
}

Send* Device::begin_send(QueuePair& owner, Use use, bool with_buffer) noexcept {
  if (free_sends_.size() <= (use == Use::kControl ? 0 : kControlSends)) return nullptr;
  if (with_buffer && free_buffers_.empty()) return nullptr;
  Send& send = sends_[free_sends_.back()];
  free_sends_.pop_back();
  send.owner = &owner;
  ++send.use;
  send.busy = true;
  send.use_for = use;
  if (with_buffer) {
    send.buffer = free_buffers_.back();
    free_buffers_.pop_back();
  }
  return &send;
}

std::uint64_t Device::id_of(const Send& send) const noexcept {
  return std::uint64_t{send.use & 0x7fffffffU} << 32U |
         static_cast<std::uint64_t>(&send - sends_.data());
}

Send* Device::find_send(std::uint64_t id) noexcept {
  const auto index = static_cast<std::uint32_t>(id);
  if (index >= sends_.size()) return nullptr;
  Send& send = sends_[index];
  return send.busy && id_of(send) == id ? &send : nullptr;
}

void Device::end_send(Send& send) noexcept {
  LIVEBTL_ASSERT(send.busy, "a send ends once");
  if (send.buffer >= 0) free_buffers_.push_back(send.buffer);
  send.buffer = -1;
  send.busy = false;
  send.owner = nullptr;
  free_sends_.push_back(static_cast<std::uint32_t>(&send - sends_.data()));
}

void Device::disown(const QueuePair& owner) noexcept {
  for (Send& send : sends_) {
    if (send.owner != &owner) continue;
    send.owner = nullptr;
    disowned_ = true;
  }
}

void Device::completions_seen_empty() noexcept {
  if (!disowned_) return;
  disowned_ = false;
  for (Send& send : sends_) {
    if (send.busy && send.owner == nullptr) end_send(send);
  }
}

}  // namespace livebtl::verbs
