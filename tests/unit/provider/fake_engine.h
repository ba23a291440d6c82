// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/provider/fake_engine.h -- an engine for the provider's tests: all ports are in this
// process, messages move when progress() is called, and a test can make it busy.
//
// It defines Engine::acquire() itself, so a program that links it must not link liblivebtl.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <vector>

#include "livebtl/engine.h"

namespace livebtl {

struct Peer {};  // the only one: this process

struct ClaimedMessage {
  MessageKind kind = MessageKind::kTagged;
  bool has_data = false;
  Tag tag = 0;
  std::uint64_t data = 0;
  std::vector<std::byte> bytes;
  Destination source;
  Operation* until_matched = nullptr;  // the sender's, if it waits for the receive
  std::vector<Slice> unread{};         // ... and its bytes, read when the message moves
};

}  // namespace livebtl

namespace livebtl::fake {

using Message = ClaimedMessage;

class FakeEngine;

struct Posted {
  ReceiveRequest request;
  std::vector<MutableSlice> slices;
  std::size_t multi_used = 0;
  Operation* operation = nullptr;
};

class FakePort final : public Port {
 public:
  FakePort(FakeEngine& engine, PortNumber number) : engine_(engine), number_(number) {}
  ~FakePort() override;

  PortNumber number() const noexcept override { return number_; }
  Address address() const noexcept override;
  Accept send(const SendRequest& request, Operation& operation) noexcept override;
  Accept inject(const SendRequest& request) noexcept override;
  std::size_t inject_bytes_max() const noexcept override { return kInjectBytesMin; }
  Accept receive(const ReceiveRequest& request, Operation& operation) noexcept override;
  bool peek(const ReceiveRequest& request, Completion& found,
            ClaimedMessage** claim) noexcept override;
  Accept receive_claimed(ClaimedMessage* claim, std::span<const MutableSlice> slices,
                         Operation& operation) noexcept override;
  void discard_claimed(ClaimedMessage* claim) noexcept override;
  bool cancel(Operation& operation) noexcept override;
  void on_active(std::uint8_t, ActiveHandler) override {}
  Accept send_active(const Destination&, std::uint8_t, std::uint64_t, std::span<const Slice>,
                     Operation&) noexcept override {
    return Accept::kInvalid;
  }
  Result<std::uint64_t> register_region(const RegionRequest& request) override;
  Status deregister_region(std::uint64_t key) override;
  void on_remote_access(RemoteAccessHandler call, void* user) noexcept override {
    access_call_ = call;
    access_user_ = user;
  }
  Accept put(const PutRequest& request, Operation& operation) noexcept override;
  Accept get(const GetRequest& request, Operation& operation) noexcept override;
  Accept atomic(const AtomicRequest& request, Operation& operation) noexcept override;
  Accept flush(const Destination&, Operation&) noexcept override { return Accept::kInvalid; }

  void deliver(Message message) noexcept;  // the engine's lock held
  void tell_access(const RemoteAccess& access) noexcept {
    if (access_call_) access_call_(access_user_, access);
  }

 private:
  Accept pass(const SendRequest& request, Operation* until_matched) noexcept;
  void tell_target(PortNumber target, RemoteAccess access) noexcept;
  std::byte* place(const Remote& remote, std::size_t bytes) noexcept;

  FakeEngine& engine_;
  const PortNumber number_;
  std::list<Posted> posted_;
  std::list<Message> unexpected_;
  RemoteAccessHandler access_call_ = nullptr;
  void* access_user_ = nullptr;
};

class FakeEngine final : public Engine {
 public:
  ProcessId process_id() const noexcept override { return ProcessId{1}; }
  Result<std::unique_ptr<Port>> open_port(const PortOptions& options) override;
  Result<Destination> peer(const Address& address) override;
  Address address_of(const Destination& destination) const noexcept override;
  std::size_t progress() noexcept override;
  void wait(std::int64_t timeout_ns) noexcept override;
  void leave() noexcept override { ++leaves; }
  int add_waker(std::function<void()>) override { return 0; }
  void remove_waker(int) noexcept override {}
  void on_event(std::function<void(const EngineEvent&)>) override {}

  // What tests set and see.
  bool busy = false;                    // every call that starts something returns kBusy
  Errc message_ends = Errc::kOk;        // the code with which messages end in a multi-receive
  std::atomic<std::uint64_t> waits{0};  // calls of wait()
  std::atomic<std::uint64_t> leaves{0};

  std::recursive_mutex lock;  // the engine's
  std::map<PortNumber, FakePort*> ports;
  std::map<std::uint64_t, RegionRequest> regions;
  std::deque<std::pair<PortNumber, Message>> wire;
  Peer self;
  PortNumber next_port = 1;
  std::uint64_t next_key = 1000;
};

/// The engine in use; acquire() must have been called, by opening a domain.
FakeEngine& engine() noexcept;

}  // namespace livebtl::fake
