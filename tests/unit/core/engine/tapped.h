// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/tapped.h -- a real transport with a tap at each process: it counts what is
// posted, and can be made to fail as a network does.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include "tests/unit/core/engine/rig.h"

namespace livebtl::test {

/// One transport of one process. Outlives the rig.
struct Tap {
  bool refuses = false;                    // no connection can be made
  std::atomic<bool> mute = false;          // what is posted vanishes
  std::atomic<bool> busy = false;          // nothing can be posted
  std::atomic<bool> no_data = false;       // no data of large messages can be posted
  std::atomic<bool> deaf = false;          // nothing is read: what was sent stays in flight
  std::atomic<bool> never_empty = false;   // a frame is in flight at all times
  std::size_t frames_max = SIZE_MAX;       // read per turn
  std::atomic<int> refused = 0;            // posts while it was busy
  bool boxes = false;                      // the engine is given the transport's fast boxes
  std::vector<core::FastBox*> fast_boxes;  // these, in the order in which it asked
  int dials = 0;
  std::vector<Blob> expected;  // peers' addresses that the transport was told
  bool moves = false;          // it then claims to listen elsewhere
  int relocations = 0;         // times it was told that its process may be elsewhere
  std::map<core::FrameKind, std::uint64_t> posted;
  Blob last_header;                     // of what was posted
  std::set<core::EndpointSink*> sinks;  // of its endpoints
};

class TappedEndpoint final : public core::Endpoint {
 public:
  TappedEndpoint(std::unique_ptr<core::Endpoint> beneath, Tap& tap)
      : beneath_(std::move(beneath)), tap_(tap) {}
  ~TappedEndpoint() override { tap_.sinks.erase(sink_); }
  void attach(core::EndpointSink& sink) noexcept override {
    tap_.sinks.insert(sink_ = &sink);
    beneath_->attach(sink);
  }
  core::Post post(const core::Frame& frame) noexcept override {
    if (tap_.busy) {
      ++tap_.refused;
      return core::Post::kRetry;
    }
    const auto head = core::decode_head(frame.header);
    if (tap_.no_data && head && head->kind == core::FrameKind::kData) return core::Post::kRetry;
    const core::Post answer = tap_.mute ? core::Post::kDone : beneath_->post(frame);
    if (head && answer != core::Post::kRetry) {
      ++tap_.posted[head->kind];
      tap_.last_header.assign(frame.header.begin(), frame.header.end());
    }
    return answer;
  }
  std::size_t in_flight() const noexcept override {
    return beneath_->in_flight() + (tap_.never_empty ? 1 : 0);
  }
  void let_go() noexcept override { beneath_->let_go(); }
  void trust() noexcept override { beneath_->trust(); }
  void copy_by(std::optional<SingleCopy> way) noexcept override { beneath_->copy_by(way); }
  bool kernel_vouched() const noexcept override { return beneath_->kernel_vouched(); }
  core::EndpointStats stats() const noexcept override { return beneath_->stats(); }
  std::string describe() const override { return beneath_->describe(); }
  core::FastBox* fast_box() noexcept override {
    if (!tap_.boxes) return nullptr;
    tap_.fast_boxes.push_back(beneath_->fast_box());
    return tap_.fast_boxes.back();
  }

 private:
  std::unique_ptr<core::Endpoint> beneath_;
  Tap& tap_;
  core::EndpointSink* sink_ = nullptr;
};

class TappedTransport final : public core::Transport, private core::TransportSink {
 public:
  TappedTransport(std::unique_ptr<core::Transport> beneath, Tap& tap)
      : beneath_(std::move(beneath)), tap_(tap) {}
  std::string_view name() const noexcept override { return beneath_->name(); }
  const core::Caps& caps() const noexcept override { return beneath_->caps(); }
  Blob address() const override { return beneath_->address(); }
  Blob contact() const override { return beneath_->contact(); }
  bool reaches(Bytes address) const noexcept override { return beneath_->reaches(address); }
  bool expect(Bytes address) noexcept override {
    tap_.expected.emplace_back(address.begin(), address.end());
    return beneath_->expect(address) || tap_.moves;
  }
  void relocated() noexcept override {
    ++tap_.relocations;
    beneath_->relocated();
  }
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes address) override {
    ++tap_.dials;
    if (tap_.refuses) return fail(Errc::kUnreachable, "the test refuses it");
    auto endpoint = beneath_->connect(address);
    if (!endpoint) return endpoint;
    return std::make_unique<TappedEndpoint>(std::move(*endpoint), tap_);
  }
  std::size_t progress(core::TransportSink& accept, TimeNs now,
                       std::size_t frames_max) noexcept override {
    if (tap_.deaf) return 0;
    accept_ = &accept;
    return beneath_->progress(*this, now, std::min(frames_max, tap_.frames_max));
  }
  int wait_fd() const noexcept override { return beneath_->wait_fd(); }
  bool arm() noexcept override { return beneath_->arm(); }

 private:
  void on_accept(std::unique_ptr<core::Endpoint> endpoint) noexcept override {
    accept_->on_accept(std::make_unique<TappedEndpoint>(std::move(endpoint), tap_));
  }

  std::unique_ptr<core::Transport> beneath_;
  Tap& tap_;
  core::TransportSink* accept_ = nullptr;
};

/// By rank.
using Taps = std::map<std::uint64_t, Tap>;

/// A transport under another name, tapped.
inline core::TransportKind tapped(const std::string& name, Taps& taps,
                                  const std::string& as = "tcp") {
  core::TransportKind made = kind(as, name);
  made.make = [make = made.make,
               &taps](const core::NodeFacts& facts) -> Result<std::unique_ptr<core::Transport>> {
    auto beneath = make(facts);
    if (!beneath) return beneath;
    Tap& tap = taps[static_cast<std::uint64_t>(facts.process) - Rig::kFirstProcess];
    return std::make_unique<TappedTransport>(std::move(*beneath), tap);
  };
  return made;
}

/// Paths over that transport that any engine has lost.
inline std::uint64_t lost(Rig& rig, const std::string& name) {
  std::uint64_t count = 0;
  for (auto& engine : rig.engines) {
    for (const auto& transport : engine->status().transports) {
      if (transport.name == name) count += transport.paths_lost;
    }
  }
  return count;
}

}  // namespace livebtl::test
