// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/faulty_transport.cc -- see faulty_transport.h.
#include "tests/conformance/faulty_transport.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

namespace livebtl::conformance {

using core::Endpoint;
using core::Frame;
using core::Post;

class FaultyEndpoint final : public Endpoint, core::EndpointSink, core::TicketEnd {
 public:
  FaultyEndpoint(FaultyTransport& transport, std::unique_ptr<Endpoint> beneath)
      : transport_(transport),
        beneath_(std::move(beneath)),
        by_ticket_(beneath_->by_ticket() != nullptr) {
    transport_.endpoints_.push_back(this);
  }
  ~FaultyEndpoint() override { std::erase(transport_.endpoints_, this); }

  void attach(core::EndpointSink& sink) noexcept override {
    sink_ = &sink;
    beneath_->attach(*this);
  }
  Post post(const Frame& frame) noexcept override;
  std::size_t in_flight() const noexcept override { return beneath_ ? beneath_->in_flight() : 0; }
  void let_go() noexcept override {
    if (beneath_) beneath_->let_go();
  }
  void trust() noexcept override {
    if (beneath_) beneath_->trust();
  }
  bool kernel_vouched() const noexcept override { return beneath_ && beneath_->kernel_vouched(); }
  core::EndpointStats stats() const noexcept override {
    return beneath_ ? beneath_->stats() : last_;
  }
  std::string describe() const override {
    return beneath_ ? "faulty " + beneath_->describe() : "severed";
  }

  core::TicketEnd* by_ticket() noexcept override { return by_ticket_ ? this : nullptr; }
  Blob ticket() const override { return beneath_->by_ticket()->ticket(); }
  void take_ticket(Bytes ticket) noexcept override {
    if (beneath_) beneath_->by_ticket()->take_ticket(ticket);
  }

  std::size_t deliver_held(std::size_t frames_max) noexcept;
  void drop_severed() noexcept;
  bool has_held() const noexcept { return !held_.empty() || down_; }

 private:
  struct Held {
    Blob header;
    Blob payload;
    std::uint32_t turns = 0;
  };

  void sever() noexcept;
  MutableBytes on_place(Bytes header, std::size_t payload_bytes,
                        bool to_be_checked) noexcept override;
  void on_frame(Bytes header, Bytes payload) noexcept override;
  void on_sent(std::uint64_t cookie) noexcept override {
    if (!severed_) sink_->on_sent(cookie);
  }
  void on_down(const Error& why) noexcept override {
    if (!severed_) down_ = why;
  }

  FaultyTransport& transport_;
  core::EndpointSink* sink_ = nullptr;
  std::uint32_t retries_ = 0;  // left of this storm
  std::deque<Held> held_;
  std::optional<Error> down_;  // reported after the frames held
  bool told_ = false;
  bool severed_ = false;
  core::EndpointStats last_;
  std::unique_ptr<Endpoint> beneath_;  // null: severed, and dropped
  const bool by_ticket_;
};

Post FaultyEndpoint::post(const Frame& frame) noexcept {
  const Faults& faults = transport_.faults_;
  if (severed_ || down_ || told_) return Post::kRetry;
  if (retries_ == 0 && transport_.random_.chance(faults.retry))
    retries_ = 1 + static_cast<std::uint32_t>(transport_.random_.below(faults.retries_max));
  if (retries_ > 0) {
    --retries_;
    ++transport_.counts_.retries;
    return Post::kRetry;
  }
  if (transport_.random_.chance(faults.sever)) {
    sever();
    return Post::kRetry;
  }
  return beneath_->post(frame);
}

// What was held has not been delivered and never will be: it is lost, like what the transport
// beneath had in flight. The engine may have posted from within a call by the endpoint beneath,
// which must live until that call returns.
void FaultyEndpoint::sever() noexcept {
  ++transport_.counts_.severed;
  held_.clear();
  severed_ = true;
  down_ = Error{Errc::kDown, "severed by the faults asked for"};
}

void FaultyEndpoint::drop_severed() noexcept {
  if (!severed_ || !beneath_) return;
  last_ = beneath_->stats();
  beneath_.reset();
}

// A frame that may be held has no place yet: those before it have not been delivered.
MutableBytes FaultyEndpoint::on_place(Bytes header, std::size_t payload_bytes,
                                      bool to_be_checked) noexcept {
  if (severed_ || transport_.faults_.delay > 0 || !held_.empty()) return {};
  return sink_->on_place(header, payload_bytes, to_be_checked);
}

void FaultyEndpoint::on_frame(Bytes header, Bytes payload) noexcept {
  if (severed_) return;
  const bool delayed = transport_.random_.chance(transport_.faults_.delay);
  if (!delayed && held_.empty()) return sink_->on_frame(header, payload);
  std::uint64_t turns = 0;
  if (delayed) {
    turns = 1 + transport_.random_.below(transport_.faults_.delay_turns_max);
    ++transport_.counts_.delays;
  }
  held_.push_back({Blob(header.begin(), header.end()), Blob(payload.begin(), payload.end()),
                   static_cast<std::uint32_t>(turns)});
}

std::size_t FaultyEndpoint::deliver_held(std::size_t frames_max) noexcept {
  drop_severed();
  std::size_t delivered = 0;
  while (!held_.empty() && delivered < frames_max) {
    if (held_.front().turns > 0) {
      --held_.front().turns;
      return delivered;
    }
    const Held next = std::move(held_.front());
    held_.pop_front();
    ++delivered;
    sink_->on_frame(next.header, next.payload);
  }
  if (down_ && held_.empty() && !told_) {
    told_ = true;
    const Error why = *std::exchange(down_, std::nullopt);
    sink_->on_down(why);
  }
  return delivered;
}

FaultyTransport::FaultyTransport(std::unique_ptr<core::Transport> beneath, const Faults& faults)
    : faults_(faults), random_(faults.seed), caps_(beneath->caps()), beneath_(std::move(beneath)) {
  caps_.keeps = caps_.keeps || faults.sever > 0;
}

Result<std::unique_ptr<Endpoint>> FaultyTransport::connect(Bytes address) {
  auto made = beneath_->connect(address);
  if (!made) return tl::unexpected<Error>(made.error());
  return std::make_unique<FaultyEndpoint>(*this, std::move(*made));
}

Result<std::unique_ptr<Endpoint>> FaultyTransport::admit(Bytes ticket) {
  auto made = beneath_->by_ticket()->admit(ticket);
  if (!made) return tl::unexpected<Error>(made.error());
  return std::make_unique<FaultyEndpoint>(*this, std::move(*made));
}

std::size_t FaultyTransport::progress(core::TransportSink& accept, TimeNs now,
                                      std::size_t frames_max) noexcept {
  accept_ = &accept;
  std::size_t moved = 0;
  for (std::size_t i = 0; i < endpoints_.size() && moved < frames_max; ++i)
    moved += endpoints_[i]->deliver_held(frames_max - moved);
  if (moved < frames_max) moved += beneath_->progress(*this, now, frames_max - moved);
  accept_ = nullptr;
  return moved;
}

bool FaultyTransport::arm() noexcept {
  const bool idle =
      std::none_of(endpoints_.begin(), endpoints_.end(),
                   [](const FaultyEndpoint* endpoint) { return endpoint->has_held(); });
  return beneath_->arm() && idle;
}

void FaultyTransport::on_accept(std::unique_ptr<Endpoint> endpoint) noexcept {
  accept_->on_accept(std::make_unique<FaultyEndpoint>(*this, std::move(endpoint)));
}

}  // namespace livebtl::conformance
