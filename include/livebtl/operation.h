// SPDX-License-Identifier: BSD-3-Clause
// livebtl/operation.h -- storage and completion of one send, receive or one-sided operation.
//
// Ownership: the caller owns the Operation and the buffers it names. Both belong to the engine from
// the call
//            that accepts it until `done` is called, exactly once; then both are the caller's
//            again.
// Threads:   `done` runs under the engine's lock, on whichever thread moves the engine (the
// caller's, another
//            caller's, or the engine's own agent). It must not block and must not call the engine;
//            it notes the result (CompletionQueue in queue.h does) or sets a flag.
// Allocation: none. All state of an operation in progress lives in `engine_state`.
#pragma once

#include <cstddef>
#include <cstdint>

#include <livebtl/result.h>
#include <livebtl/types.h>

namespace livebtl {

struct Peer;  // another process; made by Engine::peer(), lives as long as the engine

/// One port of one process.
struct Destination {
  Peer* peer = nullptr;
  PortNumber port = 0;
};

/// How an operation ended.
struct Completion {
  Errc code = Errc::kOk;
  bool has_data = false;         // `data` was sent with the message
  bool buffer_released = false;  // a multi-receive buffer took its last message
  Tag tag = 0;                   // receive: the message's whole tag
  std::uint64_t data = 0;        // receive: the 64 bits sent beside the message
  std::size_t bytes = 0;         // bytes placed in the buffer (receive, get) or taken from it
  // receive: length of the whole message; > bytes when kTruncated
  std::size_t message_bytes = 0;
  Destination source{};    // receive: who sent it
  void* buffer = nullptr;  // multi-receive: where in the buffer this message was put
};

struct Operation {
  using Done = void (*)(Operation& operation, const Completion& completion) noexcept;

  Done done = nullptr;                      // set by the caller before the call
  void* user = nullptr;                     // the caller's own
  alignas(16) std::byte engine_state[256];  // the engine's, from acceptance to `done`

  Operation() noexcept {
  }  // engine_state stays uninitialised on purpose: it is cleared on acceptance
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
};

/// The answer of every call that starts an operation.
enum class Accept : std::uint8_t {
  kAccepted,  // `done` is called exactly once, perhaps before the call returns
  kBusy,      // nothing was taken; call again after progress()
  kPeerLost,  // nothing was taken; the peer is proved dead
  kInvalid,   // nothing was taken; an argument breaks a documented limit
};

}  // namespace livebtl
