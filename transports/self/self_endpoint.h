// SPDX-License-Identifier: BSD-3-Clause
// transports/self/self_endpoint.h -- one end of a connection of a process to itself.
//
// A frame waits in the other end's inbox until progress(). Stable payloads are handed over by
// reference; others are copied into slots that keep their memory. Ownership: the ends point to each
// other until one is destroyed.
#pragma once

#include <vector>

#include "transports/interface/transport.h"

namespace livebtl::self {

class SelfTransport;

class SelfEndpoint final : public core::Endpoint {
 public:
  static constexpr std::size_t kPayloadBytesMax = 64u << 10;

  explicit SelfEndpoint(SelfTransport& transport);
  ~SelfEndpoint() override;
  static void join(SelfEndpoint& one, SelfEndpoint& other) noexcept;

  void attach(core::EndpointSink& sink) noexcept override { sink_ = &sink; }
  core::Post post(const core::Frame& frame) noexcept override;
  std::size_t in_flight() const noexcept override { return lent_; }
  void let_go() noexcept override;
  void trust() noexcept override { payload_max_ = kPayloadBytesMax; }
  bool kernel_vouched() const noexcept override { return true; }
  core::EndpointStats stats() const noexcept override { return stats_; }
  std::string describe() const override { return "self"; }

  /// Delivers at most frames_max frames, then reports a closed other end.
  std::size_t deliver(std::size_t frames_max) noexcept;
  bool has_work() const noexcept { return sink_ && !down_ && (waiting_ > 0 || !other_); }

 private:
  static constexpr std::size_t kSlots = 64;

  struct Slot {
    std::byte header[core::kHeaderBytesMax];
    std::size_t header_bytes = 0;
    Blob copy;
    Bytes payload;  // in `copy`, or in the sender's memory
    std::uint64_t cookie = 0;
    bool stays = false;  // its sender waits for on_sent()
  };

  void copy_lent_payloads();
  void part() noexcept;
  void deliver_first() noexcept;
  void take_down(Errc code, const char* text) noexcept;

  SelfTransport& transport_;
  core::EndpointSink* sink_ = nullptr;
  SelfEndpoint* other_ = nullptr;  // null: closed
  std::vector<Slot> inbox_;        // a ring of kSlots, made when first used
  std::size_t first_ = 0;
  std::size_t waiting_ = 0;
  std::size_t lent_ = 0;  // of ours, in the other's inbox
  std::size_t payload_max_ = core::kUntrustedPayloadMax;
  bool down_ = false;
  core::EndpointStats stats_;
};

}  // namespace livebtl::self
