// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_endpoint_zero_copy.cc -- payloads of an SmEndpoint that are too large for its
// ring: ours, which the peer reads, and the peer's.
#include <cerrno>

#include "base/assert.h"
#include "transports/sm/sm_endpoint.h"
#include "transports/sm/sm_transport.h"

namespace livebtl::sm {

// Only the record of the exposure goes through the ring.
core::Post SmEndpoint::expose(const core::Frame& frame) noexcept {
  LIVEBTL_ASSERT(frame.stable && frame.payload.size() >= transport_.caps().zero_copy_bytes_min &&
                     frame.payload.size() <= transport_.caps().zero_copy_bytes_max,
                 "a stable payload within what caps() says of exposed ones");
  if (!exporter_ || !exporter_->allowed()) return core::Post::kSmaller;
  const std::size_t record = record_bytes(frame.header.size(), sizeof(ExposureRecord));
  if (exporter_->full() || (!out_.fits(record) && !out_.make_room(record)))
    return core::Post::kRetry;
  const auto exposure = exporter_->expose(frame.payload, frame.cookie);
  if (!exposure) return core::Post::kSmaller;
  out_.put<true>(frame.header, bytes_of(*exposure), record, RecordKind::kExposure);
  transport_.watch_exposed(*this);
  stats_.count_sent(frame.header.size() + frame.payload.size());
  ++stats_.frames_exposed;
  wake_ring_reader();
  return core::Post::kPosted;
}

void SmEndpoint::copy_by(std::optional<SingleCopy> way) noexcept {
  if (exporter_) exporter_->copy_by(way.value_or(transport_.single_copy()));
}

std::size_t SmEndpoint::settle_exposed() noexcept {
  if (!exporter_) return 0;
  std::size_t settled = 0;
  for (; settled < kExposuresMax && exporter_->was_read(); ++settled)
    sink_->on_sent(exporter_->take_back());
  if (exporter_->refused()) {
    exporter_->share();
    if (state_ == State::kOpen) wake_ring_reader();
  }
  return settled;
}

void SmEndpoint::let_go() noexcept {
  if (!exporter_) return;
  exporter_->move_out();
  if (exporter_->outstanding() != 0 && state_ == State::kOpen)
    wake_ring_reader();  // one may be shared
}

// in: an exposed payload. out: place is empty if the peer took it along when it ended; its other
// frames still count. false: the connection is down, or the peer is asked for a copy.
bool SmEndpoint::read_remotely(const ExposureRecord& exposure, MutableBytes& place) noexcept {
  switch (reader_.read(exposure, place)) {
    case RemoteReader::Outcome::kDone:
      return true;
    case RemoteReader::Outcome::kGone:
      place = {};
      return true;
    case RemoteReader::Outcome::kAsked:
      transport_.tell_refusal(*this, errno);
      if (state_ == State::kOpen) wake_ring_reader();
      break;
    case RemoteReader::Outcome::kCorrupt:
      take_down_corrupt();
      break;
  }
  return false;
}

// false: as read_remotely().
bool SmEndpoint::deliver_exposed(const RingReader::Record& record) noexcept {
  ExposureRecord exposure;
  if (payload_accepted_ == payload_bytes_max_ && record.payload.size() == sizeof(exposure))
    std::memcpy(&exposure, record.payload.data(),
                sizeof(exposure));  // otherwise its bytes stay 0
  if (exposure.bytes < transport_.caps().zero_copy_bytes_min ||
      exposure.bytes > transport_.caps().zero_copy_bytes_max) {
    take_down_corrupt();
    return false;
  }
  reader_.expect(exposure);
  alignas(16) std::byte copied[core::kHeaderBytesMax];  // the peer can no longer change it
  copy_small(copied, record.header, record.header_bytes);
  const Bytes header{copied, record.header_bytes};
  MutableBytes place;
  if (sink_->is_wanted(header)) {
    place = sink_->on_place(header, exposure.bytes, false);
    if (place.size() < exposure.bytes) place = transport_.bounce_buffer();
    place = place.first(exposure.bytes);
  }
  if (!read_remotely(exposure, place)) return false;
  transport_.note_remote_read(place.size());
  stats_.count_received(header.size() + place.size());
  if (!place.empty()) ++stats_.frames_read_remotely;
  sink_->on_frame(header, place);
  in_.release();
  if (state_ == State::kOpen) wake_ring_reader();  // the peer may wait for its payload
  return true;
}

}  // namespace livebtl::sm
