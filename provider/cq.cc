// SPDX-License-Identifier: BSD-3-Clause
// provider/cq.cc -- see cq.h.
#include "provider/cq.h"

#include <algorithm>
#include <mutex>

#include "provider/ep.h"
#include "provider/provider.h"

namespace livebtl::fi {
namespace {

void copy_context(const Completed& from, void* entries, std::size_t index) noexcept {
  static_cast<fi_cq_entry*>(entries)[index] = {from.context};
}
void copy_msg(const Completed& from, void* entries, std::size_t index) noexcept {
  static_cast<fi_cq_msg_entry*>(entries)[index] = {from.context, from.flags, from.bytes};
}
void copy_data(const Completed& from, void* entries, std::size_t index) noexcept {
  static_cast<fi_cq_data_entry*>(entries)[index] = {from.context, from.flags, from.bytes,
                                                    from.buffer, from.data};
}
void copy_tagged(const Completed& from, void* entries, std::size_t index) noexcept {
  static_cast<fi_cq_tagged_entry*>(entries)[index] = {from.context, from.flags, from.bytes,
                                                      from.buffer,  from.data,  from.tag};
}

}  // namespace

inline void CompletionQueue::release(Completed& node) noexcept {
  if (node.pool) {
    node.pool->give_back(static_cast<Op&>(node));
  } else {
    events_back_.push(node);
  }
}

// Inlined: runs for each message that is read.
[[gnu::always_inline]] inline void CompletionQueue::pop() noexcept {
  if (!local_first_) return pop_arrival();
  Completed* const taken = local_first_;
  local_first_ = taken->next.load(std::memory_order_relaxed);
  release(*taken);
}

[[gnu::always_inline]] inline void CompletionQueue::pop_arrival() noexcept {
  Completed* const taken = arrivals_.front();
  if (taken->pool) static_cast<Op*>(taken)->posted = false;
  if (Completed* const spent = arrivals_.pop()) release(*spent);
}

CompletionQueue::Copy CompletionQueue::copy_for(fi_cq_format format) noexcept {
  switch (format) {
    case FI_CQ_FORMAT_MSG:
      return copy_msg;
    case FI_CQ_FORMAT_DATA:
      return copy_data;
    case FI_CQ_FORMAT_TAGGED:
      return copy_tagged;
    case FI_CQ_FORMAT_UNSPEC:
    case FI_CQ_FORMAT_CONTEXT:
      break;
  }
  return copy_context;
}

CompletionQueue::~CompletionQueue() {
  {
    const std::lock_guard hold(domain_.gate());
    while (front()) pop();
    // The endpoints are gone and nobody pushes, so the node still linked may go as well.
    Completed* const last = arrivals_.last_taken();
    if (last && last->pool) release(*last);
  }
  domain_.drop();
}

void CompletionQueue::push_local(Completed& node) noexcept {
  node.next.store(nullptr, std::memory_order_relaxed);
  if (local_first_) {
    local_last_->next.store(&node, std::memory_order_relaxed);
  } else {
    local_first_ = &node;
  }
  local_last_ = &node;
  wait_fd_.notify();
}

Completed& CompletionQueue::make_event() noexcept {
  while (events_back_.front()) {
    if (Completed* const spent = events_back_.pop()) events_spare_.push_back(spent);
  }
  if (events_spare_.empty()) {
    // Both vectors have room for all nodes, so that taking one back never allocates. Without memory
    // for an event, a message would vanish: noexcept ends the program instead.
    events_.push_back(std::make_unique<Completed>());
    events_spare_.reserve(events_.capacity());
    events_spare_.push_back(events_.back().get());
  }
  Completed* const node = events_spare_.back();
  events_spare_.pop_back();
  return *node;
}

void CompletionQueue::forget(const Endpoint& endpoint) noexcept {
  const auto clear = [&](Completed& node) {
    if (node.endpoint == &endpoint) node.endpoint = nullptr;
  };
  arrivals_.for_each(clear);
  for (Completed* node = local_first_; node; node = node->next.load(std::memory_order_relaxed)) {
    clear(*node);
  }
}

[[gnu::always_inline]] inline ssize_t CompletionQueue::drain(void* entries, std::size_t count,
                                                             fi_addr_t* sources) noexcept {
  const std::lock_guard hold(domain_.gate());
  std::size_t taken = 0;
  while (taken < count) {
    const Completed* const node = front();
    if (!node) break;
    if (node->error) {
      if (taken == 0) return -FI_EAVAIL;
      break;
    }
    copy_(*node, entries, taken);
    if (sources) sources[taken] = source_of(*node);
    pop();
    ++taken;
  }
  return static_cast<ssize_t>(taken);
}

ssize_t CompletionQueue::read(void* entries, std::size_t count, fi_addr_t* sources) noexcept {
  if (anything()) {
    if (const ssize_t taken = drain(entries, count, sources)) {
      spins_.found();  // the next poll does not count as idle: the reader is about to answer
      return taken;
    }
  }
  // A reader calls until nothing is left. The call that ends such a series comes just after one
  // that moved the engine, and need not move it again.
  if (series_.load(std::memory_order_relaxed)) {
    series_.store(false, std::memory_order_relaxed);
    return -FI_EAGAIN;
  }
  const std::size_t moved = domain_.engine().progress();
  if (anything()) {
    if (const ssize_t taken = drain(entries, count, sources)) {
      spins_.found();
      series_.store(true, std::memory_order_relaxed);
      return taken;
    }
  }
  if (moved != 0) {
    spins_.found();  // perhaps parts of a long message: what is waited for is coming
  } else {
    spins_.found_nothing(domain_.engine());
  }
  return -FI_EAGAIN;
}

ssize_t CompletionQueue::read_error(fi_cq_err_entry* entry, std::uint64_t) noexcept {
  const std::lock_guard hold(domain_.gate());
  // The announced error is still there, whatever this side has finished since.
  const bool local = local_first_ && local_first_->error;
  const Completed* const node = local ? local_first_ : arrivals_.front();
  if (!node || !node->error) return -FI_EAGAIN;
  entry->op_context = node->context;
  entry->flags = node->flags;
  entry->len = node->bytes;
  entry->buf = node->buffer;
  entry->data = node->data;
  entry->tag = node->tag;
  entry->olen = node->bytes_lost;
  entry->err = node->error;
  entry->prov_errno = node->error;
  entry->err_data_size = 0;
  local ? pop() : pop_arrival();
  return 1;
}

ssize_t CompletionQueue::read_waiting(void* entries, std::size_t count, fi_addr_t* sources,
                                      int timeout_ms) noexcept {
  ssize_t result = -FI_EAGAIN;
  wait_until(&domain_.engine(), timeout_ms, [&] {
    result = read(entries, count, sources);
    return result != -FI_EAGAIN || take_signal();
  });
  return result;
}

int CompletionQueue::signal() noexcept {
  signalled_.store(true, std::memory_order_release);
  wait_fd_.ring();
  return 0;
}

bool CompletionQueue::ready() noexcept {
  if (anything()) return true;
  domain_.engine().progress();
  return anything();
}

}  // namespace livebtl::fi
