// SPDX-License-Identifier: BSD-3-Clause
#include "fake_engine.h"

#include <cstring>
#include <ctime>

namespace livebtl {

Result<std::shared_ptr<Engine>> Engine::acquire() {
  static std::weak_ptr<Engine> shared;
  std::shared_ptr<Engine> engine = shared.lock();
  if (!engine) {
    engine = std::make_shared<fake::FakeEngine>();
    shared = engine;
  }
  return engine;
}

namespace fake {
namespace {

FakeEngine* current = nullptr;

bool matches(const ReceiveRequest& wanted, const Message& message) noexcept {
  if (wanted.kind != message.kind) return false;
  if (wanted.from.peer && wanted.from.port != message.source.port) return false;
  return ((wanted.tag ^ message.tag) & ~wanted.ignore) == 0;
}

Completion completion_of(const Message& message) noexcept {
  Completion completion;
  completion.has_data = message.has_data;
  completion.tag = message.tag;
  completion.data = message.data;
  completion.message_bytes = message.bytes.size();
  completion.source = message.source;
  return completion;
}

std::size_t scatter(std::span<const MutableSlice> slices, const std::vector<std::byte>& bytes) {
  std::size_t at = 0;
  for (const MutableSlice& slice : slices) {
    const std::size_t part = std::min(slice.bytes, bytes.size() - at);
    if (part > 0) std::memcpy(slice.data, bytes.data() + at, part);
    at += part;
  }
  return at;
}

void gather(Message& message, std::span<const Slice> slices) {
  for (const Slice& slice : slices) {
    const auto* const from = static_cast<const std::byte*>(slice.data);
    message.bytes.insert(message.bytes.end(), from, from + slice.bytes);
  }
}

void tell_matched(const Message& message) noexcept {
  if (message.until_matched) message.until_matched->done(*message.until_matched, {});
}

void finish_receive(Operation& operation, std::span<const MutableSlice> slices,
                    const Message& message) noexcept {
  Completion completion = completion_of(message);
  completion.bytes = scatter(slices, message.bytes);
  if (completion.bytes < completion.message_bytes) completion.code = Errc::kTruncated;
  operation.done(operation, completion);
  tell_matched(message);
}

/// Returns true if the buffer is released.
bool take_multi(Posted& posted, const Message& message) noexcept {
  const MutableSlice whole = posted.slices[0];
  auto* const to = static_cast<std::byte*>(whole.data) + posted.multi_used;
  const MutableSlice rest{to, whole.bytes - posted.multi_used};
  Completion completion = completion_of(message);
  completion.bytes = scatter({&rest, 1}, message.bytes);
  if (completion.bytes < completion.message_bytes) completion.code = Errc::kTruncated;
  if (current->message_ends != Errc::kOk) completion.code = current->message_ends;
  completion.buffer = to;
  posted.multi_used += completion.bytes;
  completion.buffer_released = whole.bytes - posted.multi_used < posted.request.multi_bytes_min;
  posted.operation->done(*posted.operation, completion);
  tell_matched(message);
  return completion.buffer_released;
}

}  // namespace

FakeEngine& engine() noexcept { return *current; }

Result<std::unique_ptr<Port>> FakeEngine::open_port(const PortOptions&) {
  const std::lock_guard hold(lock);
  current = this;
  auto port = std::make_unique<FakePort>(*this, next_port);
  ports[next_port++] = port.get();
  return std::unique_ptr<Port>(std::move(port));
}

Result<Destination> FakeEngine::peer(const Address& address) {
  if (address.raw[0] != std::byte{1}) return fail(Errc::kInvalid, "not an address of ours");
  PortNumber port = 0;
  std::memcpy(&port, address.raw.data() + 1, sizeof port);
  return Destination{&self, port};
}

Address FakeEngine::address_of(const Destination& destination) const noexcept {
  Address address;
  address.raw[0] = std::byte{1};
  std::memcpy(address.raw.data() + 1, &destination.port, sizeof destination.port);
  return address;
}

std::size_t FakeEngine::progress() noexcept {
  const std::lock_guard hold(lock);
  std::size_t moved = 0;
  while (!wire.empty()) {
    auto [port, message] = std::move(wire.front());
    wire.pop_front();
    gather(message, message.unread);
    const auto found = ports.find(port);
    if (found != ports.end()) found->second->deliver(std::move(message));
    ++moved;
  }
  return moved;
}

void FakeEngine::wait(std::int64_t timeout_ns) noexcept {
  ++waits;
  timespec pause{0, static_cast<long>(std::min<std::int64_t>(timeout_ns, 100'000))};
  ::nanosleep(&pause, nullptr);
}

FakePort::~FakePort() {
  const std::lock_guard hold(engine_.lock);
  engine_.ports.erase(number_);
  for (Posted& posted : posted_) {
    Completion cancelled;
    cancelled.code = Errc::kCancelled;
    cancelled.buffer_released = true;
    posted.operation->done(*posted.operation, cancelled);
  }
}

Address FakePort::address() const noexcept { return engine_.address_of({&engine_.self, number_}); }

Accept FakePort::pass(const SendRequest& request, Operation* until_matched) noexcept {
  if (engine_.busy) return Accept::kBusy;
  Message message{request.kind, request.has_data, request.tag, request.data, {}, {}};
  message.source = {&engine_.self, number_};
  message.until_matched = until_matched;
  if (until_matched) message.unread.assign(request.slices.begin(), request.slices.end());
  if (!until_matched) gather(message, request.slices);
  engine_.wire.emplace_back(request.to.port, std::move(message));
  return Accept::kAccepted;
}

Accept FakePort::inject(const SendRequest& request) noexcept {
  const std::lock_guard hold(engine_.lock);
  return pass(request, nullptr);
}

Accept FakePort::send(const SendRequest& request, Operation& operation) noexcept {
  const std::lock_guard hold(engine_.lock);
  const bool waits = request.delivery_complete;
  const Accept accept = pass(request, waits ? &operation : nullptr);
  if (accept == Accept::kAccepted && !waits) operation.done(operation, {});
  return accept;
}

Accept FakePort::receive(const ReceiveRequest& request, Operation& operation) noexcept {
  const std::lock_guard hold(engine_.lock);
  if (engine_.busy) return Accept::kBusy;
  Posted posted{request, {request.slices.begin(), request.slices.end()}, 0, &operation};
  for (auto at = unexpected_.begin(); at != unexpected_.end();) {
    if (!matches(request, *at)) {
      ++at;
      continue;
    }
    const Message message = std::move(*at);
    at = unexpected_.erase(at);
    if (request.multi_bytes_min == 0) {
      finish_receive(operation, posted.slices, message);
      return Accept::kAccepted;
    }
    if (take_multi(posted, message)) return Accept::kAccepted;
  }
  posted_.push_back(std::move(posted));
  return Accept::kAccepted;
}

void FakePort::deliver(Message message) noexcept {
  for (auto at = posted_.begin(); at != posted_.end(); ++at) {
    if (!matches(at->request, message)) continue;
    if (at->request.multi_bytes_min > 0) {
      if (take_multi(*at, message)) posted_.erase(at);
      return;
    }
    const Posted posted = std::move(*at);
    posted_.erase(at);
    finish_receive(*posted.operation, posted.slices, message);
    return;
  }
  unexpected_.push_back(std::move(message));
}

bool FakePort::peek(const ReceiveRequest& request, Completion& found,
                    ClaimedMessage** claim) noexcept {
  const std::lock_guard hold(engine_.lock);
  for (auto at = unexpected_.begin(); at != unexpected_.end(); ++at) {
    if (!matches(request, *at)) continue;
    found = completion_of(*at);
    if (claim) {
      *claim = new Message(std::move(*at));
      unexpected_.erase(at);
    }
    return true;
  }
  return false;
}

Accept FakePort::receive_claimed(ClaimedMessage* claim, std::span<const MutableSlice> slices,
                                 Operation& operation) noexcept {
  const std::lock_guard hold(engine_.lock);
  finish_receive(operation, slices, *claim);
  delete claim;
  return Accept::kAccepted;
}

void FakePort::discard_claimed(ClaimedMessage* claim) noexcept {
  tell_matched(*claim);
  delete claim;
}

bool FakePort::cancel(Operation& operation) noexcept {
  const std::lock_guard hold(engine_.lock);
  for (auto at = posted_.begin(); at != posted_.end(); ++at) {
    if (at->operation != &operation) continue;
    posted_.erase(at);
    Completion cancelled;
    cancelled.code = Errc::kCancelled;
    cancelled.buffer_released = true;
    operation.done(operation, cancelled);
    return true;
  }
  return false;
}

Result<std::uint64_t> FakePort::register_region(const RegionRequest& request) {
  const std::lock_guard hold(engine_.lock);
  const std::uint64_t key = request.key ? *request.key : engine_.next_key++;
  engine_.regions[key] = request;
  return key;
}

Status FakePort::deregister_region(std::uint64_t key) {
  const std::lock_guard hold(engine_.lock);
  if (engine_.regions.erase(key) == 0) return fail(Errc::kNotFound, "no such region");
  return {};
}

std::byte* FakePort::place(const Remote& remote, std::size_t bytes) noexcept {
  const auto found = engine_.regions.find(remote.key);
  if (found == engine_.regions.end()) return nullptr;
  auto* const base = static_cast<std::byte*>(found->second.base);
  std::uint64_t offset = remote.address;
  if (found->second.virtual_addressing) offset -= reinterpret_cast<std::uintptr_t>(base);
  return offset + bytes <= found->second.bytes ? base + offset : nullptr;
}

void FakePort::tell_target(PortNumber target, RemoteAccess access) noexcept {
  access.source = {&engine_.self, number_};
  const auto found = engine_.ports.find(target);
  if (found != engine_.ports.end()) found->second->tell_access(access);
}

Accept FakePort::put(const PutRequest& request, Operation& operation) noexcept {
  const std::lock_guard hold(engine_.lock);
  if (engine_.busy) return Accept::kBusy;
  std::size_t bytes = 0;
  for (const Slice& slice : request.slices) bytes += slice.bytes;
  std::byte* to = place(request.remote, bytes);
  Completion completion;
  if (!to) completion.code = Errc::kBadKey;
  for (const Slice& slice : request.slices) {
    if (!to) break;
    std::memcpy(to, slice.data, slice.bytes);
    to += slice.bytes;
  }
  if (to)
    tell_target(request.to.port, {{}, Access::kWrite, request.remote.key, bytes, request.data});
  operation.done(operation, completion);
  return Accept::kAccepted;
}

Accept FakePort::get(const GetRequest& request, Operation& operation) noexcept {
  const std::lock_guard hold(engine_.lock);
  if (engine_.busy) return Accept::kBusy;
  std::size_t bytes = 0;
  for (const MutableSlice& slice : request.slices) bytes += slice.bytes;
  const std::byte* from = place(request.remote, bytes);
  Completion completion;
  if (!from) completion.code = Errc::kBadKey;
  for (const MutableSlice& slice : request.slices) {
    if (!from) break;
    std::memcpy(slice.data, from, slice.bytes);
    from += slice.bytes;
  }
  if (from) tell_target(request.to.port, {{}, Access::kRead, request.remote.key, bytes, {}});
  operation.done(operation, completion);
  return Accept::kAccepted;
}

Accept FakePort::atomic(const AtomicRequest& request, Operation& operation) noexcept {
  const std::lock_guard hold(engine_.lock);
  if (engine_.busy) return Accept::kBusy;
  // Sums and swaps of 64-bit integers suffice to show that requests arrive as intended.
  auto* const at = reinterpret_cast<std::uint64_t*>(place(request.remote, request.count * 8));
  Completion completion;
  if (!at || request.scalar != Scalar::kU64) completion.code = Errc::kBadKey;
  for (std::size_t i = 0; i < request.count && completion.code == Errc::kOk; ++i) {
    const auto scalar_at = [i](const void* array) {
      return static_cast<const std::uint64_t*>(array)[i];
    };
    const std::uint64_t before = at[i];
    if (request.fetched) static_cast<std::uint64_t*>(request.fetched)[i] = before;
    if (request.op == AtomicOp::kSum) at[i] += scalar_at(request.operand);
    if (request.op == AtomicOp::kWrite) at[i] = scalar_at(request.operand);
    if (request.op == AtomicOp::kCompareSwap && before == scalar_at(request.compare)) {
      at[i] = scalar_at(request.operand);
    }
  }
  const Access access = request.op == AtomicOp::kRead ? Access::kRead
                        : request.fetched             ? Access::kReadWrite
                                                      : Access::kWrite;
  if (at) tell_target(request.to.port, {{}, access, request.remote.key, request.count * 8, {}});
  operation.done(operation, completion);
  return Accept::kAccepted;
}

}  // namespace fake
}  // namespace livebtl
