// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/network/sim_endpoint_exposed.cc -- payloads of a SimEndpoint that stay in their sender's memory until
// the receiver reads them there.
#include <algorithm>

#include "tests/sim/network/sim_transport.h"

namespace livebtl::sim {

core::Post SimEndpoint::expose(const core::Frame& frame) {
  const core::Caps& caps = transport_.caps();
  LIVEBTL_ASSERT(frame.stable && caps.zero_copy_bytes_min != 0 &&
                     frame.payload.size() >= caps.zero_copy_bytes_min &&
                     frame.payload.size() <= caps.zero_copy_bytes_max,
                 "exposed size");
  Waiting waiting;
  waiting.parcel.header.assign(frame.header.begin(), frame.header.end());
  waiting.parcel.exposed = std::make_shared<Exposed>();
  waiting.parcel.exposed->where = frame.payload;
  exposures_.push_back({waiting.parcel.exposed, frame.cookie});
  ++stats_.frames_exposed;
  hand_on(std::move(waiting));
  return core::Post::kPosted;
}

void SimEndpoint::move_exposed() noexcept {
  for (Exposure& exposure : exposures_) {
    Exposed& payload = *exposure.payload;
    if (!payload.read && payload.copy.empty())
      payload.copy.assign(payload.where.begin(), payload.where.end());
    payload.where = {};
  }
}

void SimEndpoint::take_exposed_along() noexcept {
  for (Exposure& exposure : exposures_) exposure.payload->gone = !exposure.payload->read;
}

std::size_t SimEndpoint::settle_exposed() {
  std::size_t settled = 0;
  while (!down_ && !exposures_.empty() && exposures_.front().payload->read) {
    const std::uint64_t cookie = exposures_.front().cookie;
    exposures_.pop_front();
    sink_->on_sent(cookie);
    ++settled;
  }
  return settled;
}

// false: it could not be read, and lies where it was or is gone with its connection.
bool SimEndpoint::deliver_exposed(Parcel parcel) {
  if (!trusted_) {
    go_down({Errc::kCorrupt, "an exposed payload on an endpoint that is not trusted"});
    return false;
  }
  MutableBytes place;
  Blob aside;
  const std::size_t bytes = std::max(parcel.exposed->where.size(), parcel.exposed->copy.size());
  if (sink_->is_wanted(parcel.header)) {
    place = sink_->on_place(parcel.header, bytes, false);
    if (place.size() < bytes) aside.resize(bytes);
    place = aside.empty() ? place.first(bytes) : MutableBytes(aside);
  }
  if (!read(*parcel.exposed, place)) return false;
  network_.delivered(connection_, side_, parcel);
  ++stats_.frames_received;
  if (!place.empty()) ++stats_.frames_read_remotely;
  stats_.bytes_received += parcel.header.size() + place.size();
  sink_->on_frame(parcel.header, place);
  return true;
}

// As the kernel: a part may have been copied when the rest cannot be.
bool SimEndpoint::read(Exposed& exposed, MutableBytes& place) {
  const Bytes from = exposed.copy.empty() ? exposed.where : Bytes(exposed.copy);
  const bool again = !place.empty() && network_.random().chance(network_.plan().read_again);
  const std::size_t bytes = again || exposed.gone ? place.size() / 2 : place.size();
  std::copy_n(from.begin(), bytes, place.begin());
  if (exposed.gone) {
    place = {};
    return true;
  }
  if (again) network_.counts().note(Fault::kReadAgain);
  exposed.read = !again;
  return exposed.read;
}

}  // namespace livebtl::sim
