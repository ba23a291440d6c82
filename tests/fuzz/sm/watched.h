// SPDX-License-Identifier: BSD-3-Clause
// tests/fuzz/sm/watched.h -- the product's sm transport as an engine sees it, with checks of all
// that it tells the engine, and with a second writer: whenever control passes between the two, a
// neighbour may change the memory, as a process on another processor can at any time. One thread.
#pragma once

#include <functional>
#include <memory>

#include "tests/conformance/fake_knem.h"
#include "tests/fuzz/reached.h"
#include "tests/fuzz/sm/guards.h"
#include "transports/sm/sm_segment.h"
#include "transports/sm/sm_transport.h"

namespace livebtl::fuzz {

inline constexpr std::size_t kRingBytes = 64u << 10;
/// Where the rings' data begin, after the page of words (transports/sm/sm_segment.cc).
inline constexpr std::size_t kDataAt = 4096;

/// Outlives the engine.
struct Watch {
  std::function<void()> meanwhile;  // the second writer's turn
  std::size_t frames = 0;           // delivered
  std::size_t refused = 0;          // connections that ended because of what lay in memory
};

class WatchedEndpoint final : public core::Endpoint, private core::EndpointSink {
 public:
  WatchedEndpoint(std::unique_ptr<core::Endpoint> beneath, const core::Caps& caps, Watch& watch)
      : beneath_(std::move(beneath)), caps_(caps), watch_(watch) {}

  void attach(core::EndpointSink& sink) noexcept override {
    sink_ = &sink;
    beneath_->attach(*this);
  }
  core::Post post(const core::Frame& frame) noexcept override {
    watch_.meanwhile();
    return beneath_->post(frame);
  }
  std::size_t in_flight() const noexcept override { return beneath_->in_flight(); }
  void let_go() noexcept override {
    watch_.meanwhile();
    beneath_->let_go();
  }
  void trust() noexcept override { beneath_->trust(); }
  void copy_by(std::optional<SingleCopy> way) noexcept override { beneath_->copy_by(way); }
  bool kernel_vouched() const noexcept override { return beneath_->kernel_vouched(); }
  core::EndpointStats stats() const noexcept override { return beneath_->stats(); }
  std::string describe() const override { return beneath_->describe(); }
  core::FastBox* fast_box() noexcept override { return beneath_->fast_box(); }

 private:
  MutableBytes on_place(Bytes header, std::size_t payload_bytes,
                        bool to_be_checked) noexcept override {
    check(header, payload_bytes);
    return sink_->on_place(header, payload_bytes, to_be_checked);
  }
  void on_frame(Bytes header, Bytes payload) noexcept override {
    ++watch_.frames;
    check(header, payload.size());
    check_place(payload);
    watch_.meanwhile();
    sink_->on_frame(header, payload);
    watch_.meanwhile();
  }
  void on_sent(std::uint64_t cookie) noexcept override {
    must_hold(!down_, "nothing is told after the end");
    sink_->on_sent(cookie);
  }
  void on_down(const Error& why) noexcept override {
    must_hold(!down_, "a connection ends once");
    must_hold(!why.text.empty() && why.code != Errc::kOk, "an end has a reason");
    down_ = true;
    if (why.code == Errc::kCorrupt) ++watch_.refused;
    sink_->on_down(why);
  }

  void check(Bytes header, std::size_t payload_bytes) const {
    must_hold(!down_, "nothing is delivered after the end");
    must_hold(!header.empty() && header.size() <= core::kHeaderBytesMax, "a header's size");
    must_hold(shared_mapping_at(header.data()).base == nullptr, "a header is a private copy");
    must_hold(payload_bytes <= std::max(caps_.payload_bytes_max, caps_.zero_copy_bytes_max),
              "a payload's size");
  }
  /// Private memory, or within the data of one ring.
  static void check_place(Bytes payload) {
    const SharedMapping mapping = shared_mapping_at(payload.data());
    if (payload.empty() || mapping.base == nullptr) return;
    const auto first = static_cast<std::size_t>(payload.data() - mapping.base);
    const std::size_t last = first + payload.size() - 1;
    must_hold(first >= kDataAt && last < kDataAt + 2 * kRingBytes, "a payload lies in a ring");
    must_hold((first - kDataAt) / kRingBytes == (last - kDataAt) / kRingBytes, "... in one ring");
  }

  std::unique_ptr<core::Endpoint> beneath_;
  const core::Caps& caps_;
  Watch& watch_;
  core::EndpointSink* sink_ = nullptr;
  bool down_ = false;
};

class WatchedTransport final : public core::Transport, private core::TransportSink {
 public:
  WatchedTransport(std::unique_ptr<core::Transport> beneath, Watch& watch)
      : beneath_(std::move(beneath)), watch_(watch) {}

  std::string_view name() const noexcept override { return beneath_->name(); }
  const core::Caps& caps() const noexcept override { return beneath_->caps(); }
  Blob address() const override { return beneath_->address(); }
  bool reaches(Bytes address) const noexcept override { return beneath_->reaches(address); }
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes address) override {
    auto endpoint = beneath_->connect(address);
    if (!endpoint) return endpoint;
    return std::make_unique<WatchedEndpoint>(std::move(*endpoint), caps(), watch_);
  }
  std::size_t progress(core::TransportSink& accept, TimeNs now,
                       std::size_t frames_max) noexcept override {
    accept_ = &accept;
    watch_.meanwhile();
    const std::size_t before = watch_.frames;
    const std::size_t moved = beneath_->progress(*this, now, frames_max);
    must_hold(watch_.frames - before <= frames_max, "no more frames in a turn than asked for");
    return moved;
  }
  int wait_fd() const noexcept override { return beneath_->wait_fd(); }
  bool arm() noexcept override {
    watch_.meanwhile();
    return beneath_->arm();
  }

 private:
  void on_accept(std::unique_ptr<core::Endpoint> endpoint) noexcept override {
    accept_->on_accept(std::make_unique<WatchedEndpoint>(std::move(endpoint), caps(), watch_));
  }

  std::unique_ptr<core::Transport> beneath_;
  Watch& watch_;
  core::TransportSink* accept_ = nullptr;
};

/// watch: null: the unchanged transport. knem: replaces the driver's device.
inline core::TransportKind sm_kind(Watch* watch, conformance::FakeKnem& knem) {
  core::TransportKind kind = sm::sm_kind();
  kind.make = [&knem](const core::NodeFacts& facts) {
    return sm::SmTransport::make(facts, facts.settings->sm_ring_bytes,
                                 facts.settings->sm_single_copy, knem.device());
  };
  if (watch == nullptr) return kind;
  kind.make = [make = kind.make,
               watch](const core::NodeFacts& facts) -> Result<std::unique_ptr<core::Transport>> {
    auto beneath = make(facts);
    if (!beneath) return beneath;
    return std::make_unique<WatchedTransport>(std::move(*beneath), *watch);
  };
  return kind;
}

}  // namespace livebtl::fuzz
