// SPDX-License-Identifier: BSD-3-Clause
// core/engine/ports.cc -- see ports.h.
#include "core/engine/ports.h"

#include "base/as_stored.h"
#include "core/engine/core.h"
#include "core/lane/receive_end.h"

namespace livebtl::core {

namespace {

/// Holds the lock, and posts what can be posted before it releases it.
class PostingGuard : Guard {
 public:
  explicit PostingGuard(Core& core) noexcept : Guard(core), sender_(core.sender) {}
  ~PostingGuard() { sender_.flush_all(); }

 private:
  Sender& sender_;
};

}  // namespace

CorePort::CorePort(Core& core, std::shared_ptr<void> engine, PortNumber number,
                   const PortOptions& port_options)
    : PortState(number, port_options), core_(core), engine_(std::move(engine)) {}

Result<std::unique_ptr<Port>> CorePort::open(Core& core, std::shared_ptr<void> engine,
                                             const PortOptions& port_options) {
  const auto number = core.ports.free_number();
  if (!number) return tl::unexpected(number.error());
  auto port = std::make_unique<CorePort>(core, std::move(engine), *number, port_options);
  core.ports.add(*port);
  return port;
}

// Operations that are still open are ended here, each with its completion, so that no frame refers
// to their memory.
CorePort::~CorePort() {
  const Guard guard(core_);
  core_.ports.remove(*this);
  if (core_.lock.in_child())
    forget_all();
  else
    end_all();
}

void CorePort::end_all() noexcept {
  for (auto& pending : pending_active)
    core_.receiver.give_back(*pending.peer, pending.payload.size(), 1);
  for (auto message = matcher.take_any(); message; message = matcher.take_any())
    core_.receiver.drop_unexpected(std::move(message), Errc::kCancelled);
  for (auto message = claimed_.take_any(); message; message = claimed_.take_any())
    core_.receiver.drop_unexpected(std::move(message), Errc::kCancelled);
  while (Operation* receive = matcher.first_posted()) {
    matcher.withdraw(*receive);
    end_withdrawn(*receive, Errc::kCancelled);
  }
  core_.bml.peers.for_each([&](Peer& peer) { core_.sender.cancel_port(*this, peer); });
  core_.transfers.cancel_port(*this);
  core_.onesided.cancel_port(*this);
}

// Rings and connections belong to the parent, which goes on: nothing is sent on them, or given
// back. Its agent may have been in the middle of something at the fork.
void CorePort::forget_all() noexcept {
  claimed_.forget();
  matcher.forget();
}

Address CorePort::address() const noexcept {
  const Guard guard(core_);
  return core_.bml.slots.own_address(id);
}

Accept CorePort::send(const SendRequest& request, Operation& operation) noexcept {
  const PostingGuard guard(core_);
  return core_.sender.send(*this, request, &operation);
}

Accept CorePort::inject(const SendRequest& request) noexcept {
  const PostingGuard guard(core_);
  return core_.sender.send(*this, request, nullptr);
}

std::size_t CorePort::inject_bytes_max() const noexcept { return kInjectBytesMin; }

namespace {

/// Nothing will come from there any more.
bool has_failed(const Destination& from) noexcept {
  return from.peer != nullptr && from.peer->failed;
}

}  // namespace

inline bool CorePort::fill(const ReceiveRequest& request, Operation& operation) const noexcept {
  const bool multi = request.multi_bytes_min != 0;
  const std::size_t slice_count = request.slices.size();
  if (slice_count > kSlicesMax || (multi && slice_count != 1)) return false;
  ReceiveState& state = start_state<ReceiveState>(operation);
  state.kind = request.kind;
  state.tag = as_stored(request.tag);
  state.ignore = as_stored(request.ignore);
  state.from = request.from;
  state.slice_count = static_cast<std::uint8_t>(slice_count);
  state.multi_bytes_min = request.multi_bytes_min;
  if (slice_count == 1) [[likely]] {
    const MutableSlice& slice = request.slices.front();
    state.slices[0] = {as_stored(slice.data), as_stored(slice.bytes)};
    state.capacity = slice.bytes;
    return true;
  }
  for (std::size_t i = 0; i < slice_count; ++i) {
    state.slices[i] = request.slices[i];
    state.capacity += request.slices[i].bytes;
  }
  return true;
}

Accept CorePort::receive(const ReceiveRequest& request, Operation& operation) noexcept {
  const Guard guard(core_);
  if (!fill(request, operation)) return Accept::kInvalid;
  if (matcher.unexpected_count() == 0 && !has_failed(request.from)) [[likely]] {
    matcher.post_unmatched(operation);
    return Accept::kAccepted;
  }
  return receive_waiting(operation);
}

Accept CorePort::receive_waiting(Operation& operation) noexcept {
  ReceiveState& state = state_of<ReceiveState>(operation);
  // A multi-receive may take several waiting messages, one after the other.
  for (;;) {
    auto message = matcher.post(operation);
    if (!message && has_failed(state.from)) {
      matcher.withdraw(operation);
      end_withdrawn(operation, Errc::kPeerLost);
    }
    if (!message) break;
    const std::size_t bytes = std::min<std::size_t>(message->envelope.length, state.capacity);
    state.reposting = state.multi_bytes_min != 0 && state.capacity - bytes >= state.multi_bytes_min;
    const bool again = state.reposting;
    core_.receiver.deliver_unexpected(*this, std::move(message), operation);
    if (!again) break;  // the operation may be the caller's again: do not touch it
    state.reposting = false;
  }
  core_.sender.flush_all();
  return Accept::kAccepted;
}

bool CorePort::peek(const ReceiveRequest& request, Completion& found,
                    ClaimedMessage** claim) noexcept {
  const Guard guard(core_);
  ReceiveState like;
  like.kind = request.kind;
  like.tag = request.tag;
  like.ignore = request.ignore;
  like.from = request.from;
  const Unexpected* const message = matcher.peek(like);
  if (message == nullptr) return false;
  found = message->envelope.completion(message->envelope.length);
  if (claim != nullptr) *claim = claimed_.add(matcher.take(like));
  return true;
}

Accept CorePort::receive_claimed(ClaimedMessage* claim, std::span<const MutableSlice> slices,
                                 Operation& operation) noexcept {
  const PostingGuard guard(core_);
  if (!fill({.slices = slices}, operation)) return Accept::kInvalid;
  core_.receiver.deliver_unexpected(*this, claimed_.take(claim), operation);
  return Accept::kAccepted;
}

void CorePort::discard_claimed(ClaimedMessage* claim) noexcept {
  const PostingGuard guard(core_);
  // Taken and thrown away, as the user wished.
  core_.receiver.drop_unexpected(claimed_.take(claim), Errc::kOk);
}

bool CorePort::cancel(Operation& operation) noexcept {
  const Guard guard(core_);
  if (!matcher.withdraw(operation)) return false;
  end_withdrawn(operation, Errc::kCancelled);
  return true;
}

void CorePort::on_active(std::uint8_t handler, ActiveHandler call) {
  const Guard guard(core_);
  handlers[handler] = std::move(call);
}

Accept CorePort::send_active(const Destination& to, std::uint8_t handler, std::uint64_t argument,
                             std::span<const Slice> slices, Operation& operation) noexcept {
  const PostingGuard guard(core_);
  return core_.sender.send_active(*this, to, handler, argument, slices, operation);
}

Result<std::uint64_t> CorePort::register_region(const RegionRequest& request) {
  const Guard guard(core_);
  return core_.onesided.regions.add(options.space, request);
}

Status CorePort::deregister_region(std::uint64_t key) {
  if (core_.lock.in_child()) return {};  // as in ~CorePort()
  const PostingGuard guard(core_);
  return core_.onesided.deregister(options.space, key);
}

void CorePort::on_remote_access(RemoteAccessHandler call, void* user) noexcept {
  const Guard guard(core_);
  remote_access = call;
  remote_access_user = user;
}

Accept CorePort::put(const PutRequest& request, Operation& operation) noexcept {
  const PostingGuard guard(core_);
  return core_.onesided.put(*this, request, operation);
}

Accept CorePort::get(const GetRequest& request, Operation& operation) noexcept {
  const PostingGuard guard(core_);
  return core_.onesided.get(*this, request, operation);
}

Accept CorePort::atomic(const AtomicRequest& request, Operation& operation) noexcept {
  const PostingGuard guard(core_);
  return core_.onesided.atomic(*this, request, operation);
}

Accept CorePort::flush(const Destination& to, Operation& operation) noexcept {
  const Guard guard(core_);
  return core_.onesided.flush(*this, to.peer, operation);
}

}  // namespace livebtl::core
