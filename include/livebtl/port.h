// SPDX-License-Identifier: BSD-3-Clause
// livebtl/port.h -- what can be sent and received: tagged, plain and active messages, put, get,
// atomics.
//
// Threads:   any thread may call; the engine's lock serialises the calls and costs a single
//            application thread next to nothing (docs/ARCHITECTURE.md, "Threads").
// Order:     messages from one port to another match in the order sent, whatever transports carry
//            them.
// Blocking:  no call here waits for a peer.
// Ownership: see operation.h; arrays of slices are read during the call only.
// Errors:    a broken path is never an error. Operations end with kPeerLost only when the peer's
//            process is proved dead. A call that returns anything but kAccepted has taken nothing.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include <livebtl/operation.h>

namespace livebtl {

/// Tagged and plain messages are matched separately.
enum class MessageKind : std::uint8_t { kPlain = 0, kTagged = 1 };

struct SendRequest {
  Destination to{};
  MessageKind kind = MessageKind::kTagged;
  bool has_data = false;           // send `data` too: Completion::has_data at the receiver
  bool delivery_complete = false;  // done only when the bytes are in the target's buffer
  Tag tag = 0;                     // plain messages: 0
  std::uint64_t data = 0;
  std::span<const Slice> slices{};  // [0..kSlicesMax]
};

struct ReceiveRequest {
  MessageKind kind = MessageKind::kTagged;
  Tag tag = 0;
  Tag ignore = 0;                          // tag bits to ignore; plain messages: ~0
  Destination from{};                      // peer null: from any port of any process
  std::span<const MutableSlice> slices{};  // [0..kSlicesMax]; multi-receive: exactly one
  // Multi-receive if above 0: the slice takes one message after another until fewer than this many
  // bytes are left. `done` is called for each message, the last time with buffer_released. Only
  // that call returns the buffer to the caller, whatever the codes of the others.
  std::size_t multi_bytes_min = 0;
};

/// A message that peek() has set aside. Owned by the engine; to be passed once to receive_claimed()
/// or discard_claimed() of the same port.
struct ClaimedMessage;

/// What a peer may do with a region. An atomic that fetches and modifies needs kReadWrite.
enum class Access : std::uint8_t { kNone = 0, kRead = 1, kWrite = 2, kReadWrite = 3 };

struct RegionRequest {
  void* base = nullptr;
  std::size_t bytes = 0;
  Access access = Access::kReadWrite;  // what peers may do
  std::optional<std::uint64_t> key{};  // none: livebtl makes one. Must not be mixed in a space
  bool virtual_addressing = false;     // peers address it by our pointers instead of from 0
};

/// A place in a peer's region.
struct Remote {
  std::uint64_t key = 0;
  std::uint64_t address = 0;  // offset in bytes; with virtual_addressing: the owner's pointer
};

struct PutRequest {
  Destination to{};
  Remote remote{};
  std::span<const Slice> slices{};      // [0..kSlicesMax]
  std::optional<std::uint64_t> data{};  // shown to the target: RemoteAccess::data
};

struct GetRequest {
  Destination to{};
  Remote remote{};
  std::span<const MutableSlice> slices{};  // [0..kSlicesMax]
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

/// Executed exactly once, by atomic instructions of the target's CPU, over every transport. The
/// remote address must be a multiple of the scalar's size.
struct AtomicRequest {
  Destination to{};
  Remote remote{};
  AtomicOp op = AtomicOp::kSum;
  Scalar scalar = Scalar::kU64;
  std::size_t count = 1;          // scalars, at least 1; kAtomicBytesMax bytes at most
  const void* operand = nullptr;  // [count] scalars, read during the call; kRead: null
  const void* compare = nullptr;  // [count], read during the call; only compare and masked swaps
  void* fetched = nullptr;        // [count], written before done; null: nothing is fetched
};
inline constexpr std::size_t kAtomicBytesMax = 1024;

/// The argument of an active message's handler; `payload` is valid during the call only.
struct ActiveMessage {
  Destination source{};
  std::uint8_t handler = 0;
  std::uint64_t argument = 0;
  Bytes payload{};
};
using ActiveHandler = std::function<void(const ActiveMessage&)>;

/// A peer's access to a region of ours, reported when it is complete: data of a put is in place,
/// data of a get has been taken.
struct RemoteAccess {
  Destination source{};
  // get: kRead; put: kWrite; atomic: kRead if it only reads, kReadWrite if it fetches and modifies,
  // else kWrite
  Access access = Access::kWrite;
  std::uint64_t key = 0;  // of the region
  std::size_t bytes = 0;
  std::optional<std::uint64_t> data{};  // PutRequest::data
};
/// Runs where Operation::done does, under the same rules: it must not block and must not call the
/// engine.
using RemoteAccessHandler = void (*)(void* user, const RemoteAccess& access) noexcept;

/// The least that any port's inject_bytes_max() returns.
inline constexpr std::size_t kInjectBytesMin = 4096;

class Port {
 public:
  /// Closes the port. Open operations end with kCancelled before it returns.
  virtual ~Port() = default;

  virtual PortNumber number() const noexcept = 0;
  virtual Address address() const noexcept = 0;

  /// Starts to send one message. A small one is often done before the call returns.
  virtual Accept send(const SendRequest& request, Operation& operation) noexcept = 0;
  /// Sends at most inject_bytes_max() bytes. The buffer is the caller's again on return; no
  /// completion follows.
  virtual Accept inject(const SendRequest& request) noexcept = 0;
  virtual std::size_t inject_bytes_max() const noexcept = 0;

  /// Starts to receive one message (or several: multi_bytes_min).
  virtual Accept receive(const ReceiveRequest& request, Operation& operation) noexcept = 0;
  /// true: an unexpected message matches `request` (slices are ignored), and `found` describes it.
  /// If `claim` is not null, the message is set aside for receive_claimed().
  virtual bool peek(const ReceiveRequest& request, Completion& found,
                    ClaimedMessage** claim) noexcept = 0;
  /// `slices` as in ReceiveRequest.
  virtual Accept receive_claimed(ClaimedMessage* claim, std::span<const MutableSlice> slices,
                                 Operation& operation) noexcept = 0;
  virtual void discard_claimed(ClaimedMessage* claim) noexcept = 0;
  /// Withdraws a receive. true: `done` has been called with kCancelled; for a multi-receive into
  /// which messages are still arriving, it will be called after them. false: it is already matched,
  /// or not known.
  virtual bool cancel(Operation& operation) noexcept = 0;

  /// `call` handles active messages with this number. It is called without a lock, on the threads
  /// that call progress(), never on the agent's; it may call the engine but must not throw. Set it
  /// before peers send: a message without a handler is dropped.
  virtual void on_active(std::uint8_t handler, ActiveHandler call) = 0;
  virtual Accept send_active(const Destination& to, std::uint8_t handler, std::uint64_t argument,
                             std::span<const Slice> slices, Operation& operation) noexcept = 0;

  /// Lets peers access memory through all ports of this port's PortOptions::space. Returns the key.
  /// The memory stays the caller's, and must exist until it is deregistered.
  /// Errors: kInvalid (the key is in use; the space has keys of the other sort; a bad length).
  virtual Result<std::uint64_t> register_region(const RegionRequest& request) = 0;
  /// Once this returns, no peer reads or writes the memory any more; puts and gets still in
  /// progress on it end with kBadKey. Errors: kBadKey (no such region in this space).
  virtual Status deregister_region(std::uint64_t key) = 0;

  /// `call` is called with `user` for each peer's access that names this port as its target; null:
  /// none. Set it before peers access.
  virtual void on_remote_access(RemoteAccessHandler call, void* user) noexcept = 0;

  /// Done means: the bytes are in the target's memory.
  virtual Accept put(const PutRequest& request, Operation& operation) noexcept = 0;
  /// Done means: the bytes are in `slices`.
  virtual Accept get(const GetRequest& request, Operation& operation) noexcept = 0;
  virtual Accept atomic(const AtomicRequest& request, Operation& operation) noexcept = 0;
  /// Done when every put, get and atomic that this port accepted earlier for `to.peer` (null: for
  /// any peer) is complete, whether or not it succeeded. `to.port` is ignored.
  virtual Accept flush(const Destination& to, Operation& operation) noexcept = 0;
};

}  // namespace livebtl
