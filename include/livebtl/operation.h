// SPDX-License-Identifier: BSD-3-Clause
// livebtl/operation.h -- storage and completion of one send, receive or one-sided operation.
//
// Ownership: the caller owns the Operation and the buffers that its request names. The engine uses
//            both from the call that accepts the operation until it calls `done`, exactly once;
//            until then they must not move. (A multi-receive calls `done` once per message.)
// Threads:   `done` runs under the engine's lock, on the thread that moves the engine: the
//            caller's, another caller's, or the engine's agent. It must not block and must not
//            call the engine; it should only record the result in a list or set a flag.
// Memory:    the engine allocates nothing: all state of an operation in progress is in
//            `engine_state`.
#pragma once

#include <cstddef>
#include <cstdint>

#include <livebtl/result.h>
#include <livebtl/types.h>

namespace livebtl {

struct Peer;  // another process; from Engine::peer(). Owned by the engine, lives as long as it does

/// One port of one process.
struct Destination {
  Peer* peer = nullptr;
  PortNumber port = 0;
};

/// How an operation ended.
struct Completion {
  Errc code = Errc::kOk;
  bool has_data = false;          // `data` was sent with the message
  bool buffer_released = false;   // multi-receive: the buffer takes no more; this is the last call
  Tag tag = 0;                    // receive: the message's whole tag
  std::uint64_t data = 0;         // receive: the 64 bits sent with the message
  std::size_t bytes = 0;          // placed in the buffer (receive, get), or taken from it
  std::size_t message_bytes = 0;  // receive: the whole message; more than `bytes` if kTruncated
  Destination source{};           // receive: the sender
  void* buffer = nullptr;         // multi-receive: where in the buffer this message was placed
};

struct Operation {
  using Done = void (*)(Operation& operation, const Completion& completion) noexcept;

  Done done = nullptr;                      // not null; set by the caller before the call
  void* user = nullptr;                     // for the caller's use
  alignas(16) std::byte engine_state[256];  // the engine's, from acceptance to `done`

  // Not defaulted, so that Operation{} does not clear engine_state: acceptance initialises it.
  Operation() noexcept {}
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
};

/// The result of every call that starts an operation.
enum class Accept : std::uint8_t {
  kAccepted,  // `done` is called exactly once, perhaps before the call returns
  kBusy,      // nothing was taken; call again after progress()
  kPeerLost,  // nothing was taken; the peer is proved dead
  kInvalid,   // nothing was taken; an argument breaks a documented limit
};

}  // namespace livebtl
