// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_lending.cc -- large payloads of an endpoint: ours, which the peer's device
// reads from where they lie, and the peer's, which ours reads to where they are wanted (see
// verbs_endpoint.h). Under the engine's lock.
//
// Nobody ever writes into another's memory: a late read of a path that broke ends in our own
// device, as the memory is registered no more.
#include "base/assert.h"
#include "base/crc32c.h"
#include "transports/verbs/verbs_transport.h"

namespace livebtl::verbs {

core::Post VerbsEndpoint::lend(const core::Frame& frame) noexcept {
  LIVEBTL_ASSERT(frame.stable && frame.payload.size() >= kLentBytesMin &&
                     frame.payload.size() <= kLentBytesMax,
                 "a payload within caps().payload_bytes_max, or a stable one that can be lent");
  if (state_ != State::kOpen || credit() <= messages::kWordCredit || lent_.size() >= kLentMax ||
      pair_->error() != 0)
    return core::Post::kRetry;
  const auto bytes = static_cast<std::uint32_t>(frame.payload.size());
  bool refused = false;
  Registration region = transport_.register_user(frame.payload, IBV_ACCESS_REMOTE_READ, refused);
  if (refused) ++stats_.registrations_refused;
  if (!region) return core::Post::kSmaller;
  Lent lent{reinterpret_cast<std::uint64_t>(frame.payload.data()), region.remote_key(), bytes, 0,
            0};
  if (payload_crc_) {
    lent.crc_given = 1;
    lent.crc = crc32c(frame.payload);
  }
  if (!pair_->send_lent(frame.header, lent, promised_)) {
    if (pair_->error() != 0) transport_.settle_later(*this);
    return core::Post::kRetry;
  }
  ++sent_;
  told_ = promised_;
  lent_.push_back({std::move(region), frame.cookie});
  ++stats_.frames_sent;
  ++stats_.frames_lent;
  stats_.bytes_sent += frame.header.size() + frame.payload.size();
  return core::Post::kPosted;
}

// in: a message that is no ordinary frame. true: its buffer is still needed.
bool VerbsEndpoint::take(const Arrived& arrived, const Message& message) noexcept {
  if (message.head.kind == Kind::kLent) return begin_fetch(arrived, message);
  if (message.head.kind == Kind::kFetched) take_back(message.head.payload_crc);
  if (message.head.kind == Kind::kBye)
    take_down({Errc::kDown, described_ + ": the peer closed the connection"});
  return false;
}

// in: how many the peer has fetched, in all. out: those are the user's again.
void VerbsEndpoint::take_back(std::uint32_t fetched) noexcept {
  if (fetched - lent_fetched_ > lent_.size())
    return take_down({Errc::kCorrupt, described_ + ": the peer fetched what was never lent"});
  // The sink may want all memory back meanwhile, and end the connection by that.
  while (lent_fetched_ != fetched && state_ == State::kOpen) {
    const std::uint64_t cookie = lent_.front().cookie;
    lent_.erase(lent_.begin());
    ++lent_fetched_;
    sink_->on_sent(cookie);
  }
}

// false: it came to nothing, and the connection is down.
bool VerbsEndpoint::begin_fetch(const Arrived& arrived, const Message& message) noexcept {
  const auto lent = decode_lent(message.payload);
  if (!lent || !trusted()) {
    take_down(
        {Errc::kCorrupt, described_ + ": a payload is lent that is malformed or not allowed"});
    return false;
  }
  MutableBytes place = sink_->on_place(message.header, lent->bytes, lent->crc_given != 0);
  Registration region;
  if (!place.empty()) {
    LIVEBTL_ASSERT(place.size() >= lent->bytes, "a place for the whole payload");
    place = place.first(lent->bytes);
    bool refused = false;
    region = transport_.register_user(place, IBV_ACCESS_LOCAL_WRITE, refused);
    if (refused) ++stats_.registrations_refused;
  }
  fetch_.emplace(transport_.device(), arrived.buffer, message.header, *lent, place,
                 std::move(region));
  waits_ = true;
  if (!fetch_->post(*pair_)) transport_.settle_later(*this);
  return true;
}

bool VerbsEndpoint::read_done() noexcept {
  if (!fetch_ || state_ != State::kOpen) return false;
  if (fetch_->step_done()) return deliver_fetched();
  if (!fetch_->post(*pair_)) transport_.settle_later(*this);
  return false;
}

// All of it is there. true: a frame was handed on.
bool VerbsEndpoint::deliver_fetched() noexcept {
  const Fetch done = std::move(*fetch_);
  fetch_.reset();
  waits_ = false;
  const bool intact = done.is_intact();
  if (intact) {
    ++fetched_;
    ++stats_.frames_received;
    ++stats_.frames_fetched;
    stats_.bytes_received += done.header().size() + done.payload().size();
    sink_->on_frame(done.header(), done.payload());
  } else {
    take_down({Errc::kCorrupt, described_ + ": a wrong checksum over a payload"});
  }
  buffer_free(done.buffer());
  tell();
  if (has_early()) transport_.settle_later(*this);
  return intact;
}

// What waits behind a payload is not looked at, but for the peer's last word: it lends no more, and
// the read would end only when its device has not answered for seconds.
void VerbsEndpoint::look_for_bye(const Arrived& message) noexcept {
  const char* why = nullptr;
  const auto decoded = messages::decode_message(
      transport_.device().received(message.buffer, message.bytes), payload_accepted_, why);
  if (decoded && decoded->head.kind == Kind::kBye)
    take_down({Errc::kDown, described_ + ": the peer closed the connection"});
}

void VerbsEndpoint::let_go() noexcept {
  if (lent_.empty() && !(fetch_ && fetch_->holds_place())) {
    if (fetch_) fetch_->leave_place();
    return;
  }
  part();
  end_registrations();
  if (state_ != State::kOpen) return;
  state_ = State::kEnding;
  failed_ = {Errc::kDown, described_ + ": memory was wanted back that a device was reading"};
  transport_.settle_later(*this);
}

// Users' memory is theirs again, whatever the devices are at.
void VerbsEndpoint::end_registrations() noexcept {
  lent_.clear();
  if (fetch_) fetch_->end_registration();
}

}  // namespace livebtl::verbs
