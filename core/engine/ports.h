// SPDX-License-Identifier: BSD-3-Clause
// core/engine/ports.h -- a port as its user sees it: each call takes the engine's lock, has the
// lanes do the work, and posts what can be posted.
//
// Threads: any. Ownership: the user owns it; it keeps the engine alive.
#pragma once

#include <memory>

#include "core/engine/claimed_list.h"
#include "core/lane/port_state.h"
#include "livebtl/engine.h"

namespace livebtl::core {

struct Core;

class CorePort final : public Port, public PortState {
 public:
  /// Under the lock. Errors: kLimit, there are too many ports.
  static Result<std::unique_ptr<Port>> open(Core& core, std::shared_ptr<void> engine,
                                            const PortOptions& port_options);
  CorePort(Core& core, std::shared_ptr<void> engine, PortNumber number,
           const PortOptions& port_options);
  ~CorePort() override;

  PortNumber number() const noexcept override { return id; }
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

 private:
  void end_all() noexcept;
  void forget_all() noexcept;
  Accept receive_waiting(Operation& operation) noexcept;
  bool fill(const ReceiveRequest& request, Operation& operation) const noexcept;

  Core& core_;
  std::shared_ptr<void> engine_;  // keeps the engine alive
  ClaimedList claimed_;
};

}  // namespace livebtl::core
