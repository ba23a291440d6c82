// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/network/sim_endpoint.cc -- endpoints that pull their frames from the simulated wires.
#include "tests/sim/network/sim_transport.h"

#include <algorithm>

namespace livebtl::sim {
namespace {

constexpr std::size_t kOutboxMax = 16;
constexpr std::size_t kExposuresMax = 4;

}  // namespace

SimEndpoint::SimEndpoint(SimTransport& transport, Connection& connection, int side)
    : transport_(transport), network_(transport.network()), connection_(connection), side_(side) {
  mine().end = this;
  transport_.add(*this);
}

SimEndpoint::~SimEndpoint() {
  transport_.remove(*this);
  // A transport that cannot lose frames delivers what it took, even after closing; what it exposed
  // can be read no more.
  take_exposed_along();
  if (!connection_.keeps && !down_) flush(outbox_.size(), false);
  network_.counts().note(Fault::kDrop, outbox_.size());
  network_.closed(connection_, side_);
}

void SimEndpoint::attach(core::EndpointSink& sink) noexcept {
  LIVEBTL_ASSERT(sink_ == nullptr, "attach() is called once");
  sink_ = &sink;
}

bool SimEndpoint::can_post() const noexcept {
  return !down_ && mine().open_at <= network_.clock().now() && outbox_.size() < kOutboxMax;
}

SimEndpoint::Waiting SimEndpoint::take(const core::Frame& frame) {
  Waiting waiting;
  waiting.parcel.header.assign(frame.header.begin(), frame.header.end());
  // on_sent() comes in the order of the posts, so not behind one that the peer is still to read.
  waiting.posted = frame.stable && exposures_.empty() && network_.random().chance(0.5);
  waiting.cookie = frame.cookie;
  if (waiting.posted) {
    waiting.borrowed = frame.payload;
  } else {
    waiting.parcel.payload.assign(frame.payload.begin(), frame.payload.end());
  }
  return waiting;
}

core::Post SimEndpoint::post(const core::Frame& frame) noexcept {
  LIVEBTL_ASSERT(sink_ != nullptr, "attach() comes before post()");
  LIVEBTL_ASSERT(!frame.header.empty() && frame.header.size() <= core::kHeaderBytesMax,
                 "header size");
  LIVEBTL_ASSERT(frame.exposed || frame.payload.size() <= transport_.caps().payload_bytes_max,
                 "payload size");
  if (!can_post()) return core::Post::kRetry;
  if (network_.random().chance(network_.plan().retry)) {
    network_.counts().note(Fault::kRetry);
    return core::Post::kRetry;
  }
  if (frame.exposed && exposures_.size() == kExposuresMax) return core::Post::kRetry;
  if (frame.exposed && network_.random().chance(0.3)) return core::Post::kSmaller;
  if (network_.on_post)
    network_.on_post(
        {mine().process, other().process, connection_.transport, frame.header, connection_.broken});
  ++stats_.frames_sent;
  stats_.bytes_sent += frame.header.size() + frame.payload.size();
  return frame.exposed ? expose(frame) : hand_on(take(frame));
}

core::Post SimEndpoint::hand_on(Waiting waiting) {
  const bool straight = !waiting.posted && outbox_.empty() && !connection_.broken &&
                        mine().wire.size() < kWireMax && network_.random().chance(0.7);
  if (straight) {
    network_.put_on_wire(connection_, side_, std::move(waiting.parcel));
    return core::Post::kDone;
  }
  outbox_.push_back(std::move(waiting));
  return outbox_.back().posted ? core::Post::kPosted : core::Post::kDone;
}

void SimEndpoint::let_go() noexcept {
  move_exposed();
  for (Waiting& waiting : outbox_) {
    if (waiting.borrowed.empty()) continue;
    waiting.parcel.payload.assign(waiting.borrowed.begin(), waiting.borrowed.end());
    waiting.borrowed = {};
  }
}

std::string SimEndpoint::describe() const {
  return connection_.transport + " #" + std::to_string(connection_.number) +
         (side_ == 0 ? " dialled" : " accepted");
}

bool SimEndpoint::has_work(TimeNs now) const noexcept {
  return !down_ && (can_move() || mine().sees_down <= now ||
                    (!other().wire.empty() && other().wire.front().arrives <= now));
}

std::size_t SimEndpoint::progress(std::size_t frames_max) {
  if (down_ || sink_ == nullptr) return 0;
  other().box_due = false;  // the engine has looked there, or does in this turn
  std::size_t moved = flush(frames_max, true);
  moved += deliver(frames_max - moved) + settle_exposed();
  if (!down_) look_for_break();
  return moved;
}

std::size_t SimEndpoint::flush(std::size_t frames_max, bool tell) {
  std::size_t moved = 0;
  // An end that has not yet noticed that the connection is gone fills its buffer, and no more.
  while (moved < frames_max && !outbox_.empty() && !connection_.broken &&
         (!tell || mine().wire.size() < kWireMax)) {
    Waiting waiting = std::move(outbox_.front());
    outbox_.pop_front();
    if (!waiting.borrowed.empty())
      waiting.parcel.payload.assign(waiting.borrowed.begin(), waiting.borrowed.end());
    network_.put_on_wire(connection_, side_, std::move(waiting.parcel));
    ++moved;
    if (!tell) continue;
    if (waiting.posted) sink_->on_sent(waiting.cookie);
    if (network_.random().chance(network_.plan().partial)) {
      network_.counts().note(Fault::kPartial);
      break;
    }
  }
  return moved;
}

std::size_t SimEndpoint::deliver(std::size_t frames_max) {
  std::size_t moved = 0;
  std::deque<Parcel>& wire = other().wire;
  while (moved < frames_max && !wire.empty() && wire.front().arrives <= network_.clock().now()) {
    const bool exposed = wire.front().exposed != nullptr;
    if (exposed && !deliver_exposed(wire.front())) break;  // and stays there
    Parcel parcel = std::move(wire.front());
    wire.pop_front();
    ++moved;
    if (!exposed && !deliver_one(std::move(parcel))) break;
    if (network_.random().chance(network_.plan().partial)) {
      network_.counts().note(Fault::kPartial);
      break;
    }
  }
  return moved;
}

bool SimEndpoint::deliver_one(Parcel parcel) {
  if (connection_.keeps) {
    const bool torn = network_.random().chance(network_.plan().torn);
    if (torn || network_.random().chance(network_.plan().corrupt)) {
      damaged(parcel, torn);
      return false;
    }
  }
  if (!trusted_ && parcel.payload.size() > core::kUntrustedPayloadMax) {
    go_down({Errc::kCorrupt, "a payload too large for an endpoint that is not trusted"});
    return false;
  }
  network_.delivered(connection_, side_, parcel);
  ++stats_.frames_received;
  stats_.bytes_received += parcel.header.size() + parcel.payload.size();
  Bytes payload = parcel.payload;
  if (!payload.empty() && network_.random().chance(0.5)) {
    const MutableBytes place = sink_->on_place(parcel.header, payload.size(), true);
    if (!place.empty()) {
      LIVEBTL_ASSERT(place.size() >= payload.size(), "a place is as large as the payload");
      std::memcpy(place.data(), payload.data(), payload.size());
      payload = place.first(payload.size());
    }
  }
  sink_->on_frame(parcel.header, payload);
  return true;
}

void SimEndpoint::damaged(const Parcel& parcel, bool torn) {
  network_.counts().note(torn ? Fault::kTorn : Fault::kCorrupt);
  const MutableBytes place = parcel.payload.empty()
                                 ? MutableBytes{}
                                 : sink_->on_place(parcel.header, parcel.payload.size(), true);
  if (!place.empty()) {
    // Left behind by a reader that noticed too late: the first half right, or all wrong.
    const std::size_t bytes = torn ? parcel.payload.size() / 2 : parcel.payload.size();
    for (std::size_t i = 0; i < bytes; ++i)
      place[i] = torn ? parcel.payload[i] : ~parcel.payload[i];
  }
  go_down(torn ? Error{Errc::kDown, "the simulated connection was cut within a frame"}
               : Error{Errc::kCorrupt, "a simulated frame's checksum does not match"});
}

void SimEndpoint::look_for_break() {
  const TimeNs now = network_.clock().now();
  Half& half = mine();
  const bool nobody_there = side_ == 0 && half.open_at == kNever && connection_.asks_at <= now &&
                            network_.find(connection_.transport, other().process) == nullptr;
  if (nobody_there) {
    connection_.broken = true;
    go_down({Errc::kRefused, "nobody listens there"});
    return;
  }
  if (half.sees_down > now || (half.after_wire && !other().wire.empty())) return;
  go_down(half.why);
}

void SimEndpoint::go_down(Error why) {
  move_exposed();
  down_ = true;
  if (!connection_.broken) {
    connection_.broken = connection_.severed = true;
    other().sees_down = network_.soon(kMillisecond);
    other().why = {Errc::kDown, "the other end closed the simulated connection"};
  }
  network_.counts().note(Fault::kDrop, outbox_.size() + other().wire.size());
  outbox_.clear();
  other().wire.clear();
  mine().sees_down = kNever;
  sink_->on_down(why);
}

}  // namespace livebtl::sim
