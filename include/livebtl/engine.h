// SPDX-License-Identifier: BSD-3-Clause
// livebtl/engine.h -- the engine of a process: ports, peers, progress, events.
//
// There is one engine in a process: the first acquire() starts it, with its transports and its
// control agent; later ones share it.
//
// Threads:   any thread may call any function.
// Ownership: shared; each open Port also holds the engine. The last release stops it: it waits
//            until every live peer has taken all that was sent to it (at most LIVEBTL_LINGER_MS; by
//            default without limit), then says goodbye. An acquire() meanwhile waits for that.
// fork():    engine, ports and peers belong to the parent alone. In a child, destroying them and
//            remove_waker() do nothing; no other function of theirs may be called. Once the child
//            has destroyed all that it holds, it may acquire an engine of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <livebtl/export.h>
#include <livebtl/port.h>

namespace livebtl {

struct PortOptions {
  std::uint32_t space = 0;  // ports of one space share regions and their keys
  // What has to wait does so in the caller's Operation: send() accepts any number of them, beyond
  // LIVEBTL_OPERATIONS, and inject() keeps no copy but answers kBusy. For callers that a busy port
  // must not keep waiting.
  bool waits_in_operations = false;
};

/// For information only: no action is required.
struct EngineEvent {
  enum class Kind : std::uint8_t {
    kSwitched,  // messages to `peer` now go over `transport`; also sent for the first path
    kPathLost,  // the path over `transport` to `peer` broke; what it may have lost is sent again
    kPeerLost,  // `peer` is proved dead and said no goodbye; operations that name it will fail
  };
  Kind kind = Kind::kSwitched;
  ProcessId peer{};
  std::string transport;  // as `btlctl status` names it; empty for kPeerLost
};

class LIVEBTL_API Engine {
 public:
  /// Starts the process's engine, or shares the running one. Settings come from the environment and
  /// from configuration files: livebtl-settings(7).
  /// Errors: kInvalid (a setting), kSystem, kNoMemory, kAuth (the job secret could not be read),
  /// kTimeout (joining the job), kUnreachable (no transport opened). The text says what to do.
  static Result<std::shared_ptr<Engine>> acquire();

  virtual ~Engine() = default;

  virtual ProcessId process_id() const noexcept = 0;
  /// Errors: kLimit (65535 ports are open).
  virtual Result<std::unique_ptr<Port>> open_port(const PortOptions& options) = 0;
  /// The process and port that `address` names. Does not connect. The engine owns the Peer, which
  /// lives as long as the engine.
  /// Errors: kInvalid (malformed).
  virtual Result<Destination> peer(const Address& address) = 0;
  /// The address of a peer's port.
  virtual Address address_of(const Destination& destination) const noexcept = 0;

  /// Moves bytes and completes operations. Returns the number of frames moved plus active messages
  /// handled; 0 means that there was nothing to do. Takes at most about 100 us, not counting the
  /// user's handlers.
  virtual std::size_t progress() noexcept = 0;
  /// Sleeps until something may have happened; at most `timeout_ns` ns (< 0: no limit), often less.
  virtual void wait(std::int64_t timeout_ns) noexcept = 0;
  /// Announces that the caller will sleep outside wait() and expects to be woken (by a waker or
  /// Operation::done) when something arrives: from now on the agent moves the engine, until a
  /// thread calls in again. Without this call the agent notices the absence after LIVEBTL_AWAY_US
  /// or, if recent absences did not need it, up to three seconds later.
  virtual void leave() noexcept = 0;
  /// `signal` (not null) is called on the agent's thread each time the agent has moved the engine,
  /// that is, when operations may have completed. It must only signal (an eventfd, a condition) and
  /// not call the engine. Returns an id for remove_waker(), which ends the calls.
  virtual int add_waker(std::function<void()> signal) = 0;
  virtual void remove_waker(int id) noexcept = 0;

  /// Sets the event handler; null: none. It is called without a lock, on the threads that call
  /// progress(), concurrently if several do; it may call the engine but must not throw. The
  /// previous handler may still be running when this returns. Until a thread calls progress(),
  /// every kPeerLost and the last 256 other events are kept; without a handler progress() drops
  /// them.
  virtual void on_event(std::function<void(const EngineEvent&)> call) = 0;
};

}  // namespace livebtl
