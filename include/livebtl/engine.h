// SPDX-License-Identifier: BSD-3-Clause
// livebtl/engine.h -- the engine of a process: ports, peers, progress, events.
//
// One engine a process, whoever asks: acquire() starts it (with its transports and its control
// agent), later calls share it, and the last release stops it. Threads: any thread may call any
// function.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <livebtl/export.h>
#include <livebtl/port.h>

namespace livebtl {

struct PortOptions {
  std::uint32_t space = 0;  // regions are shared among ports of one space
};

/// For those who watch; there is nothing that they must do.
struct EngineEvent {
  enum class Kind : std::uint8_t {
    kSwitched,  // what goes to `peer` takes `transport` from now on; told of its first one, too
    kPathLost,  // `transport` to `peer` broke; what it may have lost is sent again
    kPeerLost,  // it is proved dead without a farewell; operations that name it will fail
  };
  Kind kind = Kind::kSwitched;
  ProcessId peer{};
  std::string transport;  // as `btlctl status` names it; empty: none
};

class LIVEBTL_API Engine {
 public:
  /// Starts or shares the process's engine. Settings come from the environment
  /// (livebtl-settings(7)). Errors: kInvalid (a setting), kSystem, kAuth (a secret could not be
  /// read). The text says what to do.
  static Result<std::shared_ptr<Engine>> acquire();

  virtual ~Engine() = default;

  virtual ProcessId process_id() const noexcept = 0;
  virtual Result<std::unique_ptr<Port>> open_port(const PortOptions& options) = 0;
  /// The record of the process that `address` names, and the port. Does not connect. Errors:
  /// kInvalid.
  virtual Result<Destination> peer(const Address& address) = 0;
  /// The address of a peer's port.
  virtual Address address_of(const Destination& destination) const noexcept = 0;

  /// Moves bytes and completes operations; returns how much was done. Bounded: about 100 us.
  virtual std::size_t progress() noexcept = 0;
  /// Sleeps until something may have happened or `timeout_ns` passed (< 0: no limit).
  virtual void wait(std::int64_t timeout_ns) noexcept = 0;
  /// Called under the engine's lock whenever an operation completed on a thread other than a
  /// caller's progress(); must only signal (an eventfd, a condition). null: none.
  virtual int add_waker(std::function<void()> signal) = 0;
  virtual void remove_waker(int id) noexcept = 0;

  /// `call` is made without a lock, on threads that call progress(), several at once if several do;
  /// it may call the engine, and must not throw. It replaces the one before, which may still be
  /// running when this returns. While nobody calls progress(), the last 256 events wait;
  /// progress() without a `call` (null) throws them away.
  virtual void on_event(std::function<void(const EngineEvent&)> call) = 0;
};

}  // namespace livebtl
