// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_zero_copy.cc -- large payloads of an endpoint: ours, which the peer's
// device reads from where they lie, and the peer's, which ours reads to where they are wanted (see
// verbs_endpoint.h). Under the engine's lock.
//
// No process ever writes to another's memory: a late read of a broken path ends in our own device,
// as the memory is not registered any more.
#include "base/assert.h"
#include "transports/verbs/verbs_transport.h"

namespace livebtl::verbs {

core::Post VerbsEndpoint::expose(const core::Frame& frame) noexcept {
  LIVEBTL_ASSERT(frame.stable && frame.payload.size() >= messages::kExposedBytesMin &&
                     frame.payload.size() <= messages::kExposedBytesMax,
                 "a stable payload within what caps() says of exposed ones");
  if (!connection_.may_send() || exposed_.size() >= messages::kExposedMax || pair_->error() != 0)
    return core::Post::kRetry;
  bool refused = false;
  Registration region = transport_.register_user(frame.payload, IBV_ACCESS_REMOTE_READ, refused);
  if (refused) ++connection_.stats().registrations_refused;
  if (!region) return core::Post::kSmaller;
  const auto remote = messages::describe_exposed<RemoteBuffer>(
      reinterpret_cast<std::uint64_t>(frame.payload.data()), region->rkey, frame.payload,
      connection_.wants_payload_crc());
  const bool taken = pair_->send_exposed(frame.header, remote, connection_.granted());
  if (taken) {
    exposed_.push_back({std::move(region), frame.cookie});
    ++connection_.stats().frames_exposed;
  }
  return posted(taken, frame, core::Post::kPosted);
}

// false: it failed, and the connection is down.
bool VerbsEndpoint::begin_read(const Arrived& arrived, const Message& message) noexcept {
  const auto remote = messages::decode_exposed<RemoteBuffer>(message.payload);
  if (!remote || !trusted()) {
    take_down(
        {Errc::kCorrupt, describe() + ": an exposed buffer that is malformed or not allowed"});
    return false;
  }
  MutableBytes place =
      connection_.sink()->on_place(message.header, remote->bytes, remote->crc_given != 0);
  Registration region;
  if (!place.empty()) {
    LIVEBTL_ASSERT(place.size() >= remote->bytes, "a place for the whole payload");
    place = place.first(remote->bytes);
    bool refused = false;
    region = transport_.register_user(place, IBV_ACCESS_LOCAL_WRITE, refused);
    if (refused) ++connection_.stats().registrations_refused;
  }
  read_.emplace(transport_.device(), arrived.buffer, message.header, *remote, place,
                std::move(region));
  if (!read_->has_target()) {
    read_.reset();
    take_down({Errc::kNoMemory, describe() + ": no memory for a payload that is to be read"});
    return false;
  }
  waits_ = true;
  post_read();
  return true;
}

void VerbsEndpoint::post_read() noexcept {
  if (!read_->post(*pair_) || pair_->error() != 0) settle_later();
}

bool VerbsEndpoint::read_done() noexcept {
  if (!read_ || !connection_.is_open()) return false;
  if (read_->step_done()) return deliver_read();
  post_read();
  return false;
}

// The payload is there. true: a frame was handed on.
bool VerbsEndpoint::deliver_read() noexcept {
  const RemoteRead done = std::move(*read_);
  read_.reset();
  waits_ = false;
  const bool intact = connection_.deliver_read(done.header(), done.payload(), done.is_intact());
  buffer_free(done.buffer());
  connection_.tell();
  if (has_ready()) settle_later();
  return intact;
}

void VerbsEndpoint::let_go() noexcept {
  const bool reads_in_place = read_ && read_->holds_place();
  if (exposed_.empty() && !reads_in_place && (!read_ || read_->leave_place())) return;
  connection_.part();
  end_registrations();
  if (connection_.is_open())
    connection_.end(
        {Errc::kDown, describe() + ": memory that a device was reading had to be given back"});
}

// Gives users their memory back, whatever the devices are doing.
void VerbsEndpoint::end_registrations() noexcept {
  exposed_.clear();
  if (read_) read_->end_registration();
}

}  // namespace livebtl::verbs
