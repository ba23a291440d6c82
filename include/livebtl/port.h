// SPDX-License-Identifier: BSD-3-Clause
// livebtl/port.h -- what can be sent and received: tagged, plain and active messages, put, get,
// atomics.
//
// Threads:   any thread may call; calls are serialised by the engine's lock, which costs a single
//            application thread next to nothing (docs/ARCHITECTURE.md, "Threads").
// Order:     messages from one port to one port match in the order sent, whatever transports carry
// them. Blocking:  no call here blocks for a peer. Errors:    a path that breaks is never an error.
// Operations end with kPeerLost only when the peer's
//            process is proved dead.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include <livebtl/operation.h>

namespace livebtl {

/// Tagged and plain messages are matched apart from each other.
enum class MessageKind : std::uint8_t { kPlain = 0, kTagged = 1 };

struct SendRequest {
  Destination to{};
  MessageKind kind = MessageKind::kTagged;
  bool has_data = false;           // carry `data` and say so at the receiver
  bool delivery_complete = false;  // done only when the bytes are in the target's buffer
  Tag tag = 0;                     // plain messages: 0
  std::uint64_t data = 0;
  // [<= kSlicesMax]; the array is read during the call, the bytes until done
  std::span<const Slice> slices{};
};

struct ReceiveRequest {
  MessageKind kind = MessageKind::kTagged;
  Tag tag = 0;
  Tag ignore = 0;      // bits of the tag that do not matter; plain messages: ~0
  Destination from{};  // peer null: from anybody
  // [<= kSlicesMax]; the array is read during the call, the bytes belong
  std::span<const MutableSlice> slices{};
  // to the engine until done
  // > 0: one slice takes messages until less than this is left of it;
  std::size_t multi_bytes_min = 0;
  // `done` is called for each, the last with buffer_released
};

/// A message that a peek with claim has set aside for one receive_claimed or discard_claimed.
struct ClaimedMessage;

/// An atomic that fetches what it changes reads and writes.
enum class Access : std::uint8_t { kNone = 0, kRead = 1, kWrite = 2, kReadWrite = 3 };

struct RegionRequest {
  void* base = nullptr;
  std::size_t bytes = 0;
  Access access = Access::kReadWrite;  // what peers may do
  std::optional<std::uint64_t> key{};  // wished key; else one is made. One sort in a space
  // peers address it by our pointers, not from 0
  bool virtual_addressing = false;
};

/// A place in a peer's region.
struct Remote {
  std::uint64_t key = 0;
  std::uint64_t address = 0;  // offset, or the owner's pointer with virtual_addressing
};

struct PutRequest {
  Destination to{};
  Remote remote{};
  std::span<const Slice> slices{};
  // also raise a remote-write event with these 64 bits at the target
  std::optional<std::uint64_t> data{};
};

struct GetRequest {
  Destination to{};
  Remote remote{};
  std::span<const MutableSlice> slices{};
};

enum class AtomicOp : std::uint8_t {
  kMin,
  kMax,
  kSum,
  kProd,
  kLogicalOr,
  kLogicalAnd,
  kLogicalXor,
  kBitOr,
  kBitAnd,
  kBitXor,
  kRead,
  kWrite,
  kCompareSwap,
  kCompareSwapNe,
  kCompareSwapLe,
  kCompareSwapLt,
  kCompareSwapGe,
  kCompareSwapGt,
  kMaskedSwap,
};
enum class Scalar : std::uint8_t { kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64, kF32, kF64 };

/// Executed by CPU atomic instructions of the target machine, exactly once, over every transport.
struct AtomicRequest {
  Destination to{};
  Remote remote{};
  AtomicOp op = AtomicOp::kSum;
  Scalar scalar = Scalar::kU64;
  std::size_t count = 1;          // scalars; count * size <= kAtomicBytesMax
  const void* operand = nullptr;  // [count]; read during the call; null for kRead
  // [count]; compare-swap and masked swap only; read during the call
  const void* compare = nullptr;
  void* fetched = nullptr;  // [count]; null: do not fetch; written before done
};
inline constexpr std::size_t kAtomicBytesMax = 1024;

/// What an active-message handler is given; valid during the call only.
struct ActiveMessage {
  Destination source{};
  std::uint8_t handler = 0;
  std::uint64_t argument = 0;
  Bytes payload{};
};
using ActiveHandler = std::function<void(const ActiveMessage&)>;

/// A peer's access to our memory through one of our ports, told when it is over: what was put is in
/// place, what was got has been taken.
struct RemoteAccess {
  Destination source{};
  Access access = Access::kWrite;  // get: kRead; put: kWrite; atomic: kReadWrite
  std::uint64_t key = 0;           // of our region
  std::size_t bytes = 0;
  std::optional<std::uint64_t> data{};  // PutRequest::data
};
/// Runs where Operation::done does, under the same rules: it must not block and must not call the
/// engine.
using RemoteAccessHandler = void (*)(void* user, const RemoteAccess& access) noexcept;

/// Port::inject_bytes_max() of every port is at least this.
inline constexpr std::size_t kInjectBytesMin = 4096;

class Port {
 public:
  virtual ~Port() = default;  // closes the port; operations still open end with kCancelled first

  virtual PortNumber number() const noexcept = 0;
  virtual Address address() const noexcept = 0;

  /// Starts one message. Small ones are often done before the call returns.
  virtual Accept send(const SendRequest& request, Operation& operation) noexcept = 0;
  /// Sends at most inject_bytes_max() bytes, whose buffer is free on return; no completion follows.
  virtual Accept inject(const SendRequest& request) noexcept = 0;
  virtual std::size_t inject_bytes_max() const noexcept = 0;

  virtual Accept receive(const ReceiveRequest& request, Operation& operation) noexcept = 0;
  /// Is there an unexpected message that `request` (slices ignored) would match? Answers at once.
  /// claim: if not null and one is there, it is set aside for receive_claimed.
  virtual bool peek(const ReceiveRequest& request, Completion& found,
                    ClaimedMessage** claim) noexcept = 0;
  virtual Accept receive_claimed(ClaimedMessage* claim, std::span<const MutableSlice> slices,
                                 Operation& operation) noexcept = 0;
  virtual void discard_claimed(ClaimedMessage* claim) noexcept = 0;
  /// true: the receive is withdrawn, and done(kCancelled) has been called. false: it is matched or
  /// unknown.
  virtual bool cancel(Operation& operation) noexcept = 0;

  /// handler: one of 256; called on threads that call progress(), never by the agent. Set before
  /// peers send.
  virtual void on_active(std::uint8_t handler, ActiveHandler call) = 0;
  virtual Accept send_active(const Destination& to, std::uint8_t handler, std::uint64_t argument,
                             std::span<const Slice> slices, Operation& operation) noexcept = 0;

  /// Regions of one process share one key space per group of ports opened with the same `space`.
  virtual Result<std::uint64_t> register_region(const RegionRequest& request) = 0;
  /// The memory is the caller's alone when this returns; puts and gets of peers that are under way
  /// there end with kBadKey at the peer.
  virtual Status deregister_region(std::uint64_t key) = 0;

  /// call: told of each access to our regions that named this port as its target; null: nobody is
  /// told. Set before peers access.
  virtual void on_remote_access(RemoteAccessHandler call, void* user) noexcept = 0;

  /// done: the bytes are visible at the target.
  virtual Accept put(const PutRequest& request, Operation& operation) noexcept = 0;
  virtual Accept get(const GetRequest& request, Operation& operation) noexcept = 0;
  virtual Accept atomic(const AtomicRequest& request, Operation& operation) noexcept = 0;
  /// done when every put, get and atomic of this port accepted before it, to `to` (peer null: to
  /// anybody), is complete, however it ended.
  virtual Accept flush(const Destination& to, Operation& operation) noexcept = 0;
};

}  // namespace livebtl
