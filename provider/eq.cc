// SPDX-License-Identifier: BSD-3-Clause
// provider/eq.cc -- see eq.h.
#include "provider/eq.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>

#include "provider/provider.h"

namespace livebtl::fi {
namespace {

ssize_t write_queue(fid_eq* queue, uint32_t event, const void* bytes, size_t count,
                    uint64_t flags) {
  EventQueue& target = EventQueue::of(queue);
  if (!target.writable() || flags != 0) return -FI_EINVAL;
  ssize_t written = 0;
  const int error = guarded([&] {
    written = target.write(event, bytes, count);
    return 0;
  });
  return error ? error : written;
}

fi_ops queue_fid_ops = {
    sizeof(fi_ops), close_object<EventQueue>, nosys, get_wait<EventQueue>, nosys, nosys, nosys,
};
fi_ops_eq queue_ops = {
    .size = sizeof(fi_ops_eq),
    .read = Method<&EventQueue::read>::call,
    .readerr = Method<&EventQueue::read_error>::call,
    .write = write_queue,
    .sread = Method<&EventQueue::read_waiting>::call,
    .strerror = error_text,
};

}  // namespace

EventQueue::EventQueue(Fabric& fabric, bool writable, void* context) noexcept
    : Object(FI_CLASS_EQ, queue_fid_ops, context), fabric_(fabric), writable_(writable) {
  ops = &queue_ops;
  fabric_.keep();
}

void EventQueue::append(Event event) {
  {
    const std::lock_guard hold(lock_);
    events_.push_back(std::move(event));
  }
  arrived_.notify_all();
  wait_fd_.notify();
}

ssize_t EventQueue::write(std::uint32_t event, const void* bytes, std::size_t count) {
  const auto* const first = static_cast<const std::byte*>(bytes);
  append({event, false, std::vector<std::byte>(first, first + count), {}});
  return static_cast<ssize_t>(count);
}

void EventQueue::write_error(const fi_eq_err_entry& entry) { append({0, true, {}, entry}); }

ssize_t EventQueue::read(std::uint32_t* event, void* bytes, std::size_t count,
                         std::uint64_t flags) noexcept {
  const std::lock_guard hold(lock_);
  if (events_.empty()) return -FI_EAGAIN;
  const Event& oldest = events_.front();
  if (oldest.is_error) return -FI_EAVAIL;
  if (count < oldest.bytes.size()) return -FI_ETOOSMALL;
  const std::size_t copied = oldest.bytes.size();
  *event = oldest.number;
  if (copied > 0) std::memcpy(bytes, oldest.bytes.data(), copied);
  if (!(flags & FI_PEEK)) events_.pop_front();
  return static_cast<ssize_t>(copied);
}

ssize_t EventQueue::read_error(fi_eq_err_entry* entry, std::uint64_t flags) noexcept {
  const std::lock_guard hold(lock_);
  if (events_.empty() || !events_.front().is_error) return -FI_EAGAIN;
  *entry = events_.front().error;
  if (!(flags & FI_PEEK)) events_.pop_front();
  return static_cast<ssize_t>(sizeof *entry);
}

ssize_t EventQueue::read_waiting(std::uint32_t* event, void* bytes, std::size_t count,
                                 int timeout_ms, std::uint64_t flags) noexcept {
  {
    std::unique_lock hold(lock_);
    const auto any = [this] { return !events_.empty(); };
    if (timeout_ms < 0) {
      arrived_.wait(hold, any);
    } else {
      arrived_.wait_for(hold, std::chrono::milliseconds(timeout_ms), any);
    }
  }
  return read(event, bytes, count, flags);
}

bool EventQueue::ready() noexcept {
  const std::lock_guard hold(lock_);
  return !events_.empty();
}

int open_event_queue(fid_fabric* fabric, fi_eq_attr* attr, fid_eq** queue, void* context) {
  if (!attr) return -FI_EINVAL;
  if (attr->wait_obj == FI_WAIT_SET) return -FI_ENOSYS;
  return guarded([&] {
    const bool writable = (attr->flags & FI_WRITE) != 0;
    auto made = std::make_unique<EventQueue>(Fabric::of(fabric), writable, context);
    if (const int error = made->set_wait(attr->wait_obj, nullptr)) return error;
    *queue = made.release();
    return 0;
  });
}

}  // namespace livebtl::fi
