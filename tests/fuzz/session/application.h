// SPDX-License-Identifier: BSD-3-Clause
// tests/fuzz/session/application.h -- an honest program on the engine under attack: it sends,
// receives and accesses memory, and demands that each operation ends exactly once and within its
// buffer.
#pragma once

#include <memory>
#include <vector>

#include "core/engine/engine_core.h"
#include "tests/fuzz/reached.h"
#include "tests/fuzz/session/input.h"

namespace livebtl::fuzz {

class Application {
 public:
  static constexpr std::uint64_t kKey = 5;
  static constexpr std::size_t kRegionBytes = 32768;

  Application(core::EngineCore& engine, Destination peer) : engine_(engine), peer_(peer) { open(); }
  ~Application() {
    close();
    for (const auto& each : started_) must_hold(each->over, "every operation ends");
  }

  void close() { port_.reset(); }
  void open() {
    close();
    auto port = engine_.open_port({});
    must_hold(port.has_value(), "a port can be opened");
    port_ = std::move(*port);
    port_->on_active(1,
                     [this](const ActiveMessage& message) { handled_ += message.payload.size(); });
    RegionRequest region;
    region.base = region_.data();
    region.bytes = region_.size();
    region.key = kKey;
    has_region_ = port_->register_region(region).has_value();
  }
  PortNumber port() const noexcept { return port_->number(); }

  /// One thing that a program may do.
  void act(Input& input) {
    switch (input.below(9)) {
      case 0:
        return receive(input);
      case 1:
        return send(input);
      case 2:
        return put(input);
      case 3:
        return get(input);
      case 4:
        return atomic(input);
      case 5:
        return take_unexpected(input);
      case 6:
        return cancel(input);
      case 7:
        return change_region();
      default:
        return open();
    }
  }
  /// Removes the messages that nobody has received; returns their number.
  std::size_t unexpected() {
    std::size_t count = 0;
    for (const MessageKind of : {MessageKind::kPlain, MessageKind::kTagged}) {
      Completion found;
      ClaimedMessage* claim = nullptr;
      while (port_->peek({.kind = of, .ignore = ~Tag{0}}, found, &claim)) {
        port_->discard_claimed(claim);
        ++count;
      }
    }
    return count;
  }

 private:
  struct Started : Operation {
    std::vector<std::byte> buffer;
    bool several = false;  // ends once per message
    bool over = false;

    explicit Started(std::size_t bytes) : buffer(bytes) {
      done = [](Operation& operation, const Completion& how) noexcept {
        auto& self = static_cast<Started&>(operation);
        must_hold(!self.over, "an operation ends once");
        must_hold(how.bytes <= self.buffer.size(), "no more arrives than there is room for");
        self.over = !self.several || how.buffer_released;
        if (self.over) std::vector<std::byte>().swap(self.buffer);  // no longer read
      };
    }
    MutableSlice slice() noexcept { return {buffer.data(), buffer.size()}; }
    Slice read() const noexcept { return {buffer.data(), buffer.size()}; }
  };

  static constexpr std::size_t kStartedMax = 64;

  static std::size_t size(Input& input) {
    constexpr std::size_t kSizes[] = {0, 1, 8, 64, 1000, 4096, 4097, 8192, 16384, 16385, 40000};
    return kSizes[input.below(std::size(kSizes))];
  }
  /// Null: enough are open.
  Started* next(std::size_t bytes) {
    if (started_.size() >= kStartedMax) return nullptr;
    return started_.emplace_back(std::make_unique<Started>(bytes)).get();
  }
  void forget_unless(Accept accepted) {
    if (accepted != Accept::kAccepted) started_.pop_back();
  }

  void receive(Input& input) {
    Started* const started = next(size(input));
    if (started == nullptr) return;
    const std::uint8_t how = input.byte();
    const MutableSlice slice = started->slice();
    ReceiveRequest request{.kind = (how & 1) != 0 ? MessageKind::kPlain : MessageKind::kTagged,
                           .tag = input.below(4),
                           .ignore = (how & 3) != 0 ? ~Tag{0} : Tag{0}};
    request.slices = {&slice, 1};
    if ((how & 4) != 0) request.from = peer_;
    started->several = (how & 24) == 24;
    if (started->several) request.multi_bytes_min = 64;
    forget_unless(port_->receive(request, *started));
  }
  void send(Input& input) {
    Started* const started = next(size(input));
    if (started == nullptr) return;
    const std::uint8_t how = input.byte();
    const Slice slice = started->read();
    SendRequest request{.to = peer_,
                        .kind = (how & 1) != 0 ? MessageKind::kPlain : MessageKind::kTagged,
                        .delivery_complete = (how & 2) != 0};
    request.slices = {&slice, 1};
    forget_unless((how & 12) == 12 ? port_->send_active(peer_, 1, how, request.slices, *started)
                                   : port_->send(request, *started));
  }
  void put(Input& input) {
    Started* const started = next(size(input));
    if (started == nullptr) return;
    const Slice slice = started->read();
    PutRequest request{.to = peer_, .remote = {kKey, 0}};
    request.slices = {&slice, 1};
    if ((input.byte() & 1) != 0) request.data = 7;
    forget_unless(port_->put(request, *started));
  }
  void get(Input& input) {
    Started* const started = next(size(input));
    if (started == nullptr) return;
    const MutableSlice slice = started->slice();
    GetRequest request{.to = peer_, .remote = {kKey, 0}};
    request.slices = {&slice, 1};
    forget_unless(port_->get(request, *started));
  }
  void atomic(Input& input) {
    const std::size_t count = 1 + input.below(16);
    Started* const started = next(count * sizeof(std::uint64_t));
    if (started == nullptr) return;
    const std::vector<std::uint64_t> operands(count, 3);
    AtomicRequest request{.to = peer_, .remote = {kKey, 0}, .count = count};
    request.operand = operands.data();
    if ((input.byte() & 1) != 0) request.fetched = started->buffer.data();
    forget_unless(port_->atomic(request, *started));
  }
  void take_unexpected(Input& input) {
    Completion found;
    ClaimedMessage* claim = nullptr;
    const std::uint8_t how = input.byte();
    const auto kind = (how & 1) != 0 ? MessageKind::kPlain : MessageKind::kTagged;
    if (!port_->peek({.kind = kind, .ignore = ~Tag{0}}, found, (how & 2) != 0 ? nullptr : &claim))
      return;
    if (claim == nullptr) return;
    Started* const started = (how & 4) != 0 ? nullptr : next(size(input));
    if (started == nullptr) return port_->discard_claimed(claim);
    const MutableSlice slice = started->slice();
    const Accept accepted = port_->receive_claimed(claim, {&slice, 1}, *started);
    must_hold(accepted == Accept::kAccepted, "a claimed message can be received");
  }
  void cancel(Input& input) {
    if (started_.empty()) return;
    Started& which = *started_[input.below(started_.size())];
    if (!which.over) port_->cancel(which);
  }
  void change_region() {
    if (has_region_) {
      must_hold(port_->deregister_region(kKey).has_value(), "a region can be withdrawn");
      has_region_ = false;
    } else {
      open();
    }
  }

  core::EngineCore& engine_;
  const Destination peer_;
  std::vector<std::byte> region_ = std::vector<std::byte>(kRegionBytes);
  bool has_region_ = false;
  std::size_t handled_ = 0;
  std::vector<std::unique_ptr<Started>> started_;
  std::unique_ptr<Port> port_;  // closes before the operations are destroyed
};

}  // namespace livebtl::fuzz
