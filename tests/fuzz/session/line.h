// SPDX-License-Identifier: BSD-3-Clause
// tests/fuzz/session/line.h -- a transport in memory with a fuzzer at its other end: what the
// engine posts is recorded, and what the fuzzer queues is delivered. One thread; no clock.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "core/lane/frame.h"
#include "transports/interface/node_facts.h"

namespace livebtl::fuzz {

struct LineFrame {
  Blob header, payload;
};

class LineEndpoint;

/// What both ends see. Owned by the fuzzer; outlives the engine.
struct Line {
  bool offered = false;               // the next progress() reports a new connection to the engine
  bool severed = false;               // the next progress() tells the engine that it has broken
  bool busy = false;                  // nothing can be posted
  bool keeps_payloads = false;        // stable payloads stay in use until the next progress()
  std::deque<LineFrame> to_engine;    // not delivered yet
  std::deque<LineFrame> from_engine;  // the newest kRecordedMax
  std::uint64_t posted = 0;           // frames that the engine posted in all
  LineEndpoint* end = nullptr;        // the engine's; null: none, or closed

  static constexpr std::size_t kRecordedMax = 256;
};

class LineEndpoint final : public core::Endpoint {
 public:
  explicit LineEndpoint(Line& line) : line_(line) { line_.end = this; }
  ~LineEndpoint() override {
    if (line_.end == this) line_.end = nullptr;
  }

  void attach(core::EndpointSink& sink) noexcept override { sink_ = &sink; }
  core::Post post(const core::Frame& frame) noexcept override {
    if (line_.busy || down_) return core::Post::kRetry;
    ++line_.posted;
    line_.from_engine.push_back({Blob(frame.header.begin(), frame.header.end()),
                                 Blob(frame.payload.begin(), frame.payload.end())});
    if (line_.from_engine.size() > Line::kRecordedMax) line_.from_engine.pop_front();
    if (!line_.keeps_payloads || !frame.stable) return core::Post::kDone;
    kept_.push_back(frame.cookie);
    return core::Post::kPosted;
  }
  std::size_t in_flight() const noexcept override { return kept_.size(); }
  void let_go() noexcept override {}  // post() itself reads payloads
  void trust() noexcept override {}
  bool kernel_vouched() const noexcept override { return false; }
  core::EndpointStats stats() const noexcept override { return {}; }
  std::string describe() const override { return "line"; }

  std::size_t progress(std::size_t frames_max) {
    std::size_t moved = 0;
    for (; !kept_.empty(); kept_.pop_front()) sink_->on_sent(kept_.front());
    if (down_) return 0;
    if (line_.severed) {
      down_ = true;
      sink_->on_down(Error{Errc::kSystem, "severed"});
      return 1;
    }
    for (; moved < frames_max && !line_.to_engine.empty(); ++moved) {
      const LineFrame frame = std::move(line_.to_engine.front());
      line_.to_engine.pop_front();
      deliver(frame);
    }
    return moved;
  }

 private:
  void deliver(const LineFrame& frame) {
    const MutableBytes place = frame.payload.empty()
                                   ? MutableBytes{}
                                   : sink_->on_place(frame.header, frame.payload.size(), false);
    if (place.empty()) return sink_->on_frame(frame.header, frame.payload);
    std::ranges::copy(frame.payload, place.begin());
    sink_->on_frame(frame.header, Bytes(place).first(frame.payload.size()));
  }

  Line& line_;
  core::EndpointSink* sink_ = nullptr;
  std::deque<std::uint64_t> kept_;  // cookies
  bool down_ = false;
};

class LineTransport final : public core::Transport {
 public:
  static constexpr std::uint32_t kPayloadMax = 16384;

  explicit LineTransport(Line& line) : line_(line) {}

  std::string_view name() const noexcept override { return "line"; }
  const core::Caps& caps() const noexcept override { return caps_; }
  Blob address() const override { return Blob(2, std::byte{1}); }
  bool reaches(Bytes) const noexcept override { return false; }
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes) override {
    return fail(Errc::kUnreachable, "the fuzzer dials, and nobody else");
  }
  std::size_t progress(core::TransportSink& accept, TimeNs,
                       std::size_t frames_max) noexcept override {
    if (line_.offered) {
      line_.offered = false;
      accept.on_accept(std::make_unique<LineEndpoint>(line_));
    }
    return line_.end != nullptr ? line_.end->progress(frames_max) : 0;
  }
  int wait_fd() const noexcept override { return -1; }
  bool arm() noexcept override { return true; }

 private:
  Line& line_;
  core::Caps caps_{
      .payload_bytes_max = kPayloadMax, .eager_bytes_max = 4096, .keeps = true, .exclusivity = 1};
};

inline core::TransportKind line_kind(Line& line) {
  return {"line", "",
          [&line](const core::NodeFacts&) -> Result<std::unique_ptr<core::Transport>> {
            return std::make_unique<LineTransport>(line);
          },
          1, 1};
}

}  // namespace livebtl::fuzz
