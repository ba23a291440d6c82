// SPDX-License-Identifier: BSD-3-Clause
// provider/transfer.cc -- starts operations on the port, and turns their ends into completions.
//
// Operations start on the application's side. The *_done functions run on the engine's side: under
// its lock, on any thread; they link the operation into a queue or retire it, then leave it alone.
#include <cstring>
#include <mutex>

#include "base/as_stored.h"
#include "provider/ep.h"
#include "provider/provider.h"

namespace livebtl::fi {

void Endpoint::give_back(Op& op) noexcept {
  const std::lock_guard hold(domain_.gate());
  op.pool->give_back(op);
}

/// Call with the engine's answer: if it has accepted, the operation may already be gone.
ssize_t Endpoint::settle(Op& op, Accept accept) noexcept {
  if (accept == Accept::kAccepted) return 0;
  give_back(op);
  return return_of(accept);
}

inline void Endpoint::finish(Op& op) noexcept {
  if (op.counter) op.counter->count(op.error);
  const bool told = op.queue && (op.report || op.error) && !op.endpoint->closing_;
  if (told) {
    op.queue->push(op);
  } else {
    op.pool->retire(op);
  }
}

void Endpoint::send_done(Operation& operation, const Completion& completion) noexcept {
  Op& op = static_cast<Op&>(operation);
  op.error = errno_if_bad(completion.code);
  finish(op);
}

namespace {

[[gnu::always_inline]] inline void note_message(Completed& node,
                                                const Completion& completion) noexcept {
  if (completion.has_data) node.flags |= FI_REMOTE_CQ_DATA;
  const std::size_t bytes = as_stored(completion.bytes);
  node.bytes = bytes;
  node.bytes_lost = as_stored(completion.message_bytes) - bytes;
  node.data = as_stored(completion.data);
  node.tag = as_stored(completion.tag);
  node.source = completion.source;
  node.buffer = completion.buffer;
  node.error = errno_if_bad(completion.code);
}

}  // namespace

void Endpoint::receive_done(Operation& operation, const Completion& completion) noexcept {
  Op& op = static_cast<Op&>(operation);
  if (completion.code == Errc::kOk || completion.code == Errc::kTruncated) {
    note_message(op, completion);
  } else {
    op.no_message();
    op.error = errno_of(completion.code);
  }
  finish(op);
}

void Endpoint::multi_receive_done(Operation& operation, const Completion& completion) noexcept {
  Op& op = static_cast<Op&>(operation);
  if (!completion.buffer_released) return op.endpoint->push_multi(op, completion);
  op.flags |= FI_MULTI_RECV;
  note_message(op, completion);
  op.report = true;  // the buffer's return is always reported
  finish(op);
}

void Endpoint::push_multi(Op& op, const Completion& completion) noexcept {
  const int error = errno_if_bad(completion.code);
  if (op.counter) op.counter->count(error);
  if (!op.queue || !(op.report || error) || closing_) return;
  Completed& event = op.queue->make_event();
  event.endpoint = this;
  event.context = op.context;
  event.flags = op.flags;
  note_message(event, completion);
  op.queue->push(event);
}

void Endpoint::one_sided_done(Operation& operation, const Completion& completion) noexcept {
  Op& op = static_cast<Op&>(operation);
  op.error = errno_of(completion.code);
  const std::byte* from = op.bounce.get();
  for (std::size_t i = 0; i < op.scatter_count && !op.error; ++i) {
    std::memcpy(op.scatter[i].data, from, op.scatter[i].bytes);
    from += op.scatter[i].bytes;
  }
  if (op.endpoint->one_sided_ordered_) op.endpoint->one_sided_pending_.fetch_sub(1);
  finish(op);
}

void Endpoint::remote_access(void* endpoint, const RemoteAccess& access) noexcept {
  Endpoint& self = *static_cast<Endpoint*>(endpoint);
  // To libfabric, what returns data is a read, even an atomic that also modifies.
  Counter* const counter =
      access.access == Access::kWrite ? self.remote_write_counter_ : self.remote_read_counter_;
  if (counter) counter->count(0);
  if (access.access != Access::kRead) self.domain_.region_modified(access.key);
  if (!access.data || !self.receive_queue_ || self.closing_) return;
  Completed& event = self.receive_queue_->make_event();
  event.endpoint = &self;
  event.context = nullptr;
  event.flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA;
  event.bytes = access.bytes;
  event.bytes_lost = 0;
  event.buffer = nullptr;
  event.data = *access.data;
  event.tag = 0;
  event.source = access.source;
  event.error = 0;
  self.receive_queue_->push(event);
}

/// Every completion means FI_TRANSMIT_COMPLETE: from then on the engine ensures that the peer's
/// engine gets the message, whatever path breaks, and does not end before. FI_DELIVERY_COMPLETE is
/// served as FI_MATCH_COMPLETE, which promises more: the engine has no answer for a message that
/// has arrived and waits for its receive.
ssize_t Endpoint::send(SendRequest& request, fi_addr_t to, const Start& start) noexcept {
  const Destination* const destination = av_->find(to);
  if (!destination) return -FI_EINVAL;
  request.to = *destination;
  request.delivery_complete = (start.flags & (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE)) != 0;
  if (start.flags & FI_INJECT) [[unlikely]]
    return send_injected(request, start);
  Op* const op = take(domain_.transmits());
  if (!op) [[unlikely]]
    return -FI_EAGAIN;
  prepare(*op, send_done, transmit_queue_, send_counter_, start);
  return settle(*op, port_->send(request, *op));
}

ssize_t Endpoint::inject(SendRequest& request, fi_addr_t to) noexcept {
  const Destination* const destination = av_->find(to);
  if (!destination) return -FI_EINVAL;
  request.to = *destination;
  const Accept accept = port_->inject(request);
  if (accept == Accept::kAccepted && send_counter_) send_counter_->count(0);
  return return_of(accept);
}

/// An inject that may want a completion: the engine gives none, so it is made here. If it must wait
/// for its receive, a copy is sent instead.
ssize_t Endpoint::send_injected(SendRequest& request, const Start& start) noexcept {
  Op* const op = take(domain_.transmits());
  if (!op) return -FI_EAGAIN;
  prepare(*op, send_done, transmit_queue_, send_counter_, start);
  if (request.delivery_complete) {
    Slice copy;
    const Accept copied = copy_to_bounce(*op, request.slices, copy);
    if (copied != Accept::kAccepted) return settle(*op, copied);
    request.slices = {&copy, 1};
    return settle(*op, port_->send(request, *op));
  }
  const Accept accept = port_->inject(request);
  if (accept != Accept::kAccepted) return settle(*op, accept);
  if (send_counter_) send_counter_->count(0);
  return complete_locally(*op, 0);
}

/// Returns 0.
ssize_t Endpoint::complete_locally(Op& op, int error) noexcept {
  op.error = error;
  const std::lock_guard hold(domain_.gate());
  if (op.queue && (op.report || error)) {
    op.queue->push_local(op);
  } else {
    op.pool->give_back(op);
  }
  return 0;
}

inline bool Endpoint::set_source(ReceiveRequest& request, fi_addr_t from) const noexcept {
  if (!directed_ || from == FI_ADDR_UNSPEC) return true;
  const Destination* const source = av_->find(from);
  if (source) request.from = *source;
  return source != nullptr;
}

ssize_t Endpoint::receive(ReceiveRequest& request, fi_addr_t from, const Start& start) noexcept {
  if (!set_source(request, from)) return -FI_EINVAL;
  Op* const op = take(domain_.receives());
  if (!op) [[unlikely]]
    return -FI_EAGAIN;
  Done done = receive_done;
  if (start.flags & FI_MULTI_RECV) {
    request.multi_bytes_min = multi_bytes_min_;
    done = multi_receive_done;
  }
  prepare(*op, done, receive_queue_, receive_counter_, start);
  return settle(*op, port_->receive(request, *op));
}

ssize_t Endpoint::peek(ReceiveRequest& request, fi_addr_t from, const Start& start) noexcept {
  if (!receive_queue_) return -FI_ENOCQ;
  if (!set_source(request, from)) return -FI_EINVAL;
  const bool set_aside = (start.flags & (FI_CLAIM | FI_DISCARD)) != 0;
  if (start.flags & FI_CLAIM && !start.context) return -FI_EINVAL;
  Op* const op = take(domain_.receives());
  if (!op) return -FI_EAGAIN;
  prepare(*op, receive_done, receive_queue_, nullptr, start);
  op->no_message();
  Completion found;
  ClaimedMessage* claim = nullptr;
  ClaimedMessage** const wanted = set_aside ? &claim : nullptr;
  bool there = port_->peek(request, found, wanted);
  if (!there) {
    // A program that only peeks would never move the engine otherwise.
    domain_.engine().progress();
    there = port_->peek(request, found, wanted);
  }
  if (!there) {
    op->tag = request.tag;
    op->report = true;
    return complete_locally(*op, FI_ENOMSG);
  }
  note_message(*op, found);
  op->bytes = found.message_bytes;
  op->bytes_lost = 0;
  op->report = true;
  if (start.flags & FI_DISCARD) {
    port_->discard_claimed(claim);
  } else if (claim) {
    static_cast<fi_context*>(start.context)->internal[0] = claim;
  }
  return complete_locally(*op, 0);
}

ssize_t Endpoint::receive_claimed(std::span<const MutableSlice> slices,
                                  const Start& start) noexcept {
  auto* const context = static_cast<fi_context*>(start.context);
  if (!context || !context->internal[0]) return -FI_EINVAL;
  auto* const claim = static_cast<ClaimedMessage*>(context->internal[0]);
  Op* const op = take(domain_.receives());
  if (!op) return -FI_EAGAIN;
  prepare(*op, receive_done, receive_queue_, receive_counter_, start);
  op->no_message();
  context->internal[0] = nullptr;
  if (start.flags & FI_DISCARD) {
    port_->discard_claimed(claim);
    return complete_locally(*op, 0);
  }
  const Accept accept = port_->receive_claimed(claim, slices, *op);
  if (accept != Accept::kAccepted) context->internal[0] = claim;
  return settle(*op, accept);
}

bool Endpoint::must_wait_turn() noexcept {
  if (!one_sided_ordered_) [[likely]]
    return false;
  int none = 0;
  return !one_sided_pending_.compare_exchange_strong(none, 1);
}

ssize_t Endpoint::cancel(void* context) noexcept {
  const std::lock_guard hold(domain_.gate());
  domain_.receives().find(
      [&](Op& op) { return op.endpoint == this && op.context == context && port_->cancel(op); });
  return 0;
}

fi_addr_t source_of(const Completed& completed) noexcept {
  if (!completed.endpoint || !completed.source.peer) return FI_ADDR_NOTAVAIL;
  AddressVector* const av = completed.endpoint->av();
  return av ? av->find_reverse(completed.source) : FI_ADDR_NOTAVAIL;
}

}  // namespace livebtl::fi
