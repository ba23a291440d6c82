// SPDX-License-Identifier: BSD-3-Clause
// core/engine/ports.h -- the numbered ports of this process: the public Port, its matcher, and the table
// of them.
//
// Threads: CorePort's public functions take the engine's lock; Ports is used under it.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "core/lane/match.h"
#include "livebtl/engine.h"

namespace livebtl::core {

struct Core;

class CorePort final : public Port {
 public:
  CorePort(Core& core, std::shared_ptr<void> engine, PortNumber number, const PortOptions& options);
  ~CorePort() override;

  PortNumber number() const noexcept override { return number_; }
  Address address() const noexcept override;
  Accept send(const SendRequest& request, Operation& operation) noexcept override;
  Accept inject(const SendRequest& request) noexcept override;
  std::size_t inject_bytes_max() const noexcept override;
  Accept receive(const ReceiveRequest& request, Operation& operation) noexcept override;
  bool peek(const ReceiveRequest& request, Completion& found,
            ClaimedMessage** claim) noexcept override;
  Accept receive_claimed(ClaimedMessage* claim, std::span<const MutableSlice> slices,
                         Operation& operation) noexcept override;
  void discard_claimed(ClaimedMessage* claim) noexcept override;
  bool cancel(Operation& operation) noexcept override;
  void on_active(std::uint8_t handler, ActiveHandler call) override;
  Accept send_active(const Destination& to, std::uint8_t handler, std::uint64_t argument,
                     std::span<const Slice> slices, Operation& operation) noexcept override;
  Result<std::uint64_t> register_region(const RegionRequest& request) override;
  Status deregister_region(std::uint64_t key) override;
  Accept put(const PutRequest& request, Operation& operation) noexcept override;
  Accept get(const GetRequest& request, Operation& operation) noexcept override;
  Accept atomic(const AtomicRequest& request, Operation& operation) noexcept override;
  Accept flush(const Destination& to, Operation& operation) noexcept override;

  void on_remote_access(RemoteAccessHandler call, void* user) noexcept override;

  void tell_remote_access(const RemoteAccess& access) const noexcept {
    if (remote_access_ != nullptr) remote_access_(remote_access_user_, access);
  }

  struct FlushWait {
    Operation* operation = nullptr;
    Peer* peer = nullptr;      // null: all
    std::uint64_t number = 0;  // one-sided operations up to this one
  };
  struct PendingActive {
    Peer* peer = nullptr;
    ActiveMessage message;
    Blob payload;
  };

  const PortNumber number_;
  const PortOptions options_;
  Matcher matcher;
  // Accepted sends, puts, gets, atomics and flushes that are not complete.
  std::uint32_t open_operations = 0;
  Operation* one_sided_first = nullptr;  // open ones, in order of acceptance
  Operation* one_sided_last = nullptr;
  std::uint64_t one_sided_number = 0;
  std::vector<FlushWait> flush_waits;
  std::vector<ActiveHandler> handlers;  // [256]
  std::deque<PendingActive> pending_active;

 private:
  Accept receive_waiting(Operation& operation) noexcept;
  bool fill(const ReceiveRequest& request, Operation& operation) const noexcept;

  RemoteAccessHandler remote_access_ = nullptr;
  void* remote_access_user_ = nullptr;
  Core& core_;
  std::shared_ptr<void> engine_;  // keeps the engine alive
};

class Ports {
 public:
  explicit Ports(Core& core) : core_(core) {}

  Result<std::unique_ptr<Port>> open(std::shared_ptr<void> engine, const PortOptions& options);
  CorePort* find(PortNumber number) noexcept {
    return number < table_.size() ? table_[number] : nullptr;
  }
  void forget(CorePort& port) noexcept;
  /// Calls the handlers of active messages that wait. Takes the lock itself; called without it.
  std::size_t run_active_handlers();
  bool active_waiting() const noexcept { return active_waiting_ != 0; }
  void add_active(CorePort& port, CorePort::PendingActive message);
  /// Receives that only this lost peer could have satisfied end.
  void fail_directed(Peer& peer) noexcept;
  std::size_t count() const noexcept { return count_; }

 private:
  Core& core_;
  std::vector<CorePort*> table_;
  std::size_t count_ = 0;
  std::size_t active_waiting_ = 0;
};

}  // namespace livebtl::core
