// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_transport.h -- frames over reliable connections of an RDMA device
// (InfiniBand, RoCE), one queue pair for each peer, with one shared receive queue.
//
// Threads: none of its own; every call under the engine's lock. Formats: docs/WIRE.md, "verbs". The
// device may go away at any time: then all endpoints go down, everything of the device is released,
// and it is reopened when needed, once it is back.
#pragma once

#include <array>
#include <optional>

#include "base/random.h"
#include "transports/messages/message_transport.h"
#include "transports/verbs/verbs_endpoint.h"

namespace livebtl::verbs {

inline constexpr core::Caps kVerbsCaps{
    .payload_bytes_max = kPayloadBytesMax,
    .zero_copy_bytes_min = messages::kExposedBytesMin,
    .zero_copy_bytes_max = messages::kExposedBytesMax,
    .eager_bytes_max = 16u << 10,
    .keeps = true,
    .same_node_only = false,
    .by_ticket = true,
    .exclusivity = 512,  // before tcp, after sm
    .latency_ns = 2'000,
    .bandwidth_mbps = 50'000,
};

/// One of this process's verbs transports: which device, and its name among them.
struct Module {
  std::string name = "verbs";  // or "verbs:mlx5_0"
  Wish wish{};
  std::optional<std::uint8_t> place{};  // of several: in the list of devices
  std::string system_files = "/sys";
};

/// The number of an endpoint is its queue pair's.
class VerbsTransport final : public messages::MessageTransport<VerbsEndpoint, std::uint32_t> {
 public:
  /// Opens a device. Errors: as Device::open().
  static Result<std::unique_ptr<VerbsTransport>> make(const core::NodeFacts& facts, Calls& calls,
                                                      const Module& module);
  ~VerbsTransport() override;

  std::string_view name() const noexcept override { return module_.name; }
  const core::Caps& caps() const noexcept override;
  Blob address() const override { return encode_address(address_, nearness_); }
  Blob contact() const override { return encode_contact(address_, nearness_.has_value()); }
  bool reaches(Bytes address) const noexcept override;
  std::uint32_t cost(Bytes address) const noexcept override;
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes address) override;
  Result<std::unique_ptr<core::Endpoint>> admit(Bytes ticket) override;
  std::size_t progress(core::TransportSink& accept, TimeNs now,
                       std::size_t frames_max) noexcept override;
  Status usable() override;
  std::vector<int> descriptors() const override;
  std::size_t pinned_bytes() const noexcept override;
  int wait_fd() const noexcept override { return epoll_.number(); }
  bool arm() noexcept override;
  TimeNs wake_at() const noexcept override;

  // For endpoints.
  Device& device() noexcept { return *device_; }
  /// The number of endpoints has changed.
  void share_sends() noexcept {
    if (device_) device_->share_among(ends_.size());
  }
  void buffer_free(std::uint32_t buffer) noexcept;
  /// Takes over a queue pair from its endpoint. parting: its BYE is under way. held: a receive
  /// buffer that is free once the queue pair has gone.
  void park(std::unique_ptr<QueuePair> pair, std::uint32_t open_grants, bool parting,
            std::optional<std::uint32_t> held) noexcept;
  /// Registers a user's memory for one payload. None: not now (refused: the device did not take
  /// it), and the payload is copied.
  Registration register_user(Bytes memory, int access, bool& refused) noexcept;

 private:
  /// A queue pair whose endpoint is gone. It is parting until its BYE has arrived, or a while has
  /// passed; then it is broken up, and destroyed once the completion queue has been seen empty
  /// since: no buffer is lost with it then.
  struct Parked {
    std::unique_ptr<QueuePair> pair;
    std::uint32_t open_grants = 0;
    TimeNs until = 0;             // 0: not set yet
    std::uint64_t broken_at = 0;  // of polls_; 0: parting
    std::optional<std::uint32_t> held = std::nullopt;
  };

  VerbsTransport(const core::NodeFacts& facts, Calls& calls, const Module& module);
  Status open_device();
  Status ensure_ready();
  Result<std::unique_ptr<VerbsEndpoint>> make_endpoint(bool dialled);

  // verbs_progress.cc
  std::size_t take_seen(std::size_t frames_max) noexcept;
  std::size_t poll(std::size_t frames_max) noexcept;
  bool complete(const ibv_wc& done) noexcept;
  bool complete_receive(const ibv_wc& done) noexcept;
  bool complete_send(const ibv_wc& done) noexcept;
  void sweep() noexcept;
  void sweep_parked() noexcept;
  void break_up(Parked& parked) noexcept;
  Parked* find_parked(std::uint32_t number) noexcept;

  // verbs_events.cc
  void take_events() noexcept;
  void on_event(const ibv_async_event& event) noexcept;
  void look_at_address() noexcept;
  void all_down(const std::string& why) noexcept;
  void lose_device(const std::string& why) noexcept;
  void close_device() noexcept;
  void unwatch(const Device& device) noexcept;

  Calls& calls_;
  const Module module_;
  Random random_;
  Fd epoll_;
  PortAddress address_;               // the last one
  std::optional<Nearness> nearness_;  // of the last device; for several modules
  std::unique_ptr<Device> device_;    // null: lost, and released
  std::string lost_;                  // why the device cannot be used any more; empty: it can
  std::string untold_;                // the same, until usable() has reported it
  TimeNs reopen_at_ = 0;
  std::vector<Parked> parked_;
  std::array<ibv_wc, 16> seen_{};  // read by arm(), for the next progress()
  int seen_count_ = 0;
  bool armed_ = false;
  std::uint64_t polls_ = 1;     // of the completion queue, in all
  std::size_t registered_ = 0;  // bytes of users' memory
  TimeNs register_after_ = 0;   // no user's memory before this: some was refused
  bool refusal_told_ = false;
  TimeNs events_at_ = 0;
  TimeNs sweep_at_ = 0;
};

/// "verbs", whatever LIVEBTL_VERBS_DEVICE names.
core::TransportKind verbs_kind();
/// One for each entry of LIVEBTL_VERBS_DEVICE, or for each port that "auto" finds; "verbs" alone
/// for a single entry without NAME, or for no entry or port.
/// Errors: kInvalid: the setting is malformed. Of more than kinds_max the last are left out, with a
/// warning.
Result<std::vector<core::TransportKind>> verbs_kinds(const std::string& devices,
                                                     std::size_t kinds_max,
                                                     const std::string& system_files = "/sys");
/// The module of that name in the list, if there is one; else the device or port of that name.
/// Errors: kInvalid.
Result<core::TransportKind> verbs_kind_named(const std::string& name, const std::string& devices,
                                             const std::string& system_files = "/sys");

}  // namespace livebtl::verbs
