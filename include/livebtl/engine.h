// SPDX-License-Identifier: BSD-3-Clause
// livebtl/engine.h -- the engine of a process: ports, peers, progress, events.
//
// There is one engine in a process: the first acquire() starts it, with its transports and its
// control agent; later ones share it.
//
// Threads:   any thread may call any function.
// Ownership: shared. Each open Port holds the engine, too. The last release stops it: it waits until
//            all that was sent has been taken by peers that live (LIVEBTL_LINGER_MS bounds that; by
//            default nothing does), and says goodbye to them; an acquire() meanwhile waits for that.
// fork():    engine, ports and peers are the parent's alone. A child may destroy what it has of them, or call
//            remove_waker(); both do nothing. It must call no other function of theirs. Then it may acquire
//            an engine of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <livebtl/export.h>
#include <livebtl/port.h>

namespace livebtl {

struct PortOptions {
  std::uint32_t space = 0;  // ports of one space share regions and their keys
  // What has to wait does so in an operation of the caller's: send() takes any number of them, beyond
  // LIVEBTL_OPERATIONS, and inject() keeps no copy but answers kBusy. For callers that must not be kept waiting by a
  // port that is busy.
  bool waits_in_operations = false;
};

/// For information: nothing has to be done about it.
struct EngineEvent {
  enum class Kind : std::uint8_t {
    kSwitched,  // messages to `peer` go over `transport` from now on; also the first time
    kPathLost,  // the path over `transport` to `peer` broke; what it may have lost is sent again
    kPeerLost,  // `peer` is proved dead and said no goodbye; operations that name it will fail
  };
  Kind kind = Kind::kSwitched;
  ProcessId peer{};
  std::string transport;  // as `btlctl status` names it; empty for kPeerLost
};

class LIVEBTL_API Engine {
 public:
  /// Starts the process's engine, or shares the one that runs. Settings come from the environment:
  /// livebtl-settings(7).
  /// Errors: kInvalid (a setting), kSystem, kAuth (the job secret could not be read), or what a
  /// transport said if none could be opened. The text says what to do.
  static Result<std::shared_ptr<Engine>> acquire();

  virtual ~Engine() = default;

  virtual ProcessId process_id() const noexcept = 0;
  /// Errors: kLimit (65535 ports are open).
  virtual Result<std::unique_ptr<Port>> open_port(const PortOptions& options) = 0;
  /// The process and the port that `address` names. Does not connect. The Peer lives as long as
  /// the engine, which owns it.
  /// Errors: kInvalid (malformed).
  virtual Result<Destination> peer(const Address& address) = 0;
  /// The address of a peer's port.
  virtual Address address_of(const Destination& destination) const noexcept = 0;

  /// Moves bytes and completes operations. Returns how many frames were moved and active messages
  /// handled: 0 means that there was nothing to do. Takes about 100 us at most, besides the time
  /// of the user's handlers.
  virtual std::size_t progress() noexcept = 0;
  /// Sleeps until something may have happened, or for `timeout_ns` nanoseconds (< 0: no limit).
  virtual void wait(std::int64_t timeout_ns) noexcept = 0;
  /// The caller goes to sleep on something else than wait(), and is to be woken when something has come (by a waker, or
  /// by Operation::done): the agent moves the engine from now on, until some thread calls in again. Without this it
  /// notices after LIVEBTL_AWAY_US or, if absences were not missed lately, up to three seconds later.
  virtual void leave() noexcept = 0;
  /// `signal` (not null) is called on the agent's thread each time that the agent has moved the
  /// engine, so that operations may have completed. It must only signal (an eventfd, a condition)
  /// and not call the engine. Returns an id for remove_waker(), after which it is not called.
  virtual int add_waker(std::function<void()> signal) = 0;
  virtual void remove_waker(int id) noexcept = 0;

  /// Sets the handler of events; null: none. It is called without a lock, on threads that call
  /// progress(), on several at once if several do; it may call the engine, and must not throw. It
  /// replaces the one before, which may still be running when this returns. Until somebody calls
  /// progress() the last 256 events wait; without a handler progress() drops them.
  virtual void on_event(std::function<void(const EngineEvent&)> call) = 0;
};

}  // namespace livebtl
