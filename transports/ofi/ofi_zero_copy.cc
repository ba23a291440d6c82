// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_zero_copy.cc -- large payloads of an endpoint: ours, which the peer reads from
// where they lie, and the peer's, which we read (see ofi_endpoint.h). Under the engine's lock.
//
// libfabric cannot cancel an operation, and a software provider may access memory long after its
// registration has ended. So nothing is read directly into a user's memory; and when a user wants
// exposed memory back, our libfabric endpoint is closed, which ends all such operations, and all
// connections with them; they are dialled again.
#include "base/assert.h"
#include "transports/ofi/ofi_transport.h"

namespace livebtl::ofi {

core::Post OfiEndpoint::expose(const core::Frame& frame) noexcept {
  LIVEBTL_ASSERT(frame.stable && frame.payload.size() >= messages::kExposedBytesMin &&
                     frame.payload.size() <= transport_.caps().zero_copy_bytes_max,
                 "a stable payload within what caps() says of exposed ones");
  if (!may_post() || exposed_.size() >= messages::kExposedMax) return core::Post::kRetry;
  Domain& domain = transport_.domain();
  Buffer* const buffer = domain.begin_send(this, peer_, Use::kFrame);
  if (buffer == nullptr) return core::Post::kRetry;
  const MutableBytes memory{const_cast<std::byte*>(frame.payload.data()), frame.payload.size()};
  auto registration = domain.register_memory(memory, FI_REMOTE_READ);
  if (!registration) {
    ++connection_.stats().registrations_refused;
    domain.end_send(*buffer);
    return core::Post::kSmaller;
  }
  const Remote at = domain.remote(*registration, memory);
  const auto remote = messages::describe_exposed<RemoteBuffer>(at.address, at.key, memory,
                                                               connection_.wants_payload_crc());
  const std::size_t bytes = messages::encode_exposed(
      frame.header, bytes_of(remote), connection_.granted(), buffer->bytes + sizeof(Route));
  const core::Post how = send_frame(*buffer, bytes, frame, core::Post::kPosted);
  if (how != core::Post::kPosted) return how;
  exposed_.push_back({std::move(*registration), frame.cookie});
  ++connection_.stats().frames_exposed;
  return how;
}

// false: it failed, and the connection is down.
bool OfiEndpoint::begin_read(Buffer& buffer, const messages::Message& message) noexcept {
  const auto remote = decode_remote(message.payload);
  if (!remote || !trusted() || transport_.caps().zero_copy_bytes_max == 0) {
    take_down(
        {Errc::kCorrupt, describe() + ": an exposed buffer that is malformed or not allowed"});
    return false;
  }
  BounceBuffer bounce = transport_.take_bounce();
  if (bounce.bytes == nullptr) {
    take_down({Errc::kNoMemory, describe() + ": no memory for a payload that is to be read"});
    return false;
  }
  read_ = std::make_unique<RemoteRead>(transport_.domain(), *this, buffer, message.header, *remote,
                                       std::move(bounce));
  post_read();
  window_.each([this](const Arrived& waiting) {
    if (read_) connection_.look_for_bye(message_bytes(waiting));
  });
  return true;
}

void OfiEndpoint::post_read() noexcept {
  const long code = read_->post(peer_);
  if (code == 0) return;
  if (code == -FI_EAGAIN) return settle_later();
  connection_.fail(down("nothing can be read from the peer's memory", code));
}

std::size_t OfiEndpoint::read_done(long code) noexcept {
  connection_.heard(transport_.now());
  if (code != 0) {
    read_->step_failed();
    take_down(down("a payload was not read", code));
    return 0;
  }
  if (!read_->step_done()) {
    post_read();
    return 0;
  }
  return deliver_read() ? 1 : 0;
}

// The payload is there. true: a frame was handed on.
bool OfiEndpoint::deliver_read() noexcept {
  const std::unique_ptr<RemoteRead> done = std::move(read_);
  const bool intact = connection_.deliver_read(done->header(), done->payload(), done->is_intact());
  transport_.give_bounce(done->take_bounce());
  buffer_free(done->buffer());
  connection_.tell();
  if (has_ready()) settle_later();
  return intact;
}

void OfiEndpoint::look_at_read(TimeNs now) noexcept {
  constexpr TimeNs kReadTime = 10 * kSecond;
  if (!read_) return;
  if (read_->since == 0) read_->since = now;
  if (now - read_->since >= kReadTime)
    take_down({Errc::kDown, describe() + ": an exposed payload could not be read in time"});
}

void OfiEndpoint::let_go() noexcept {
  if (!exposed_.empty()) end_zero_copy("exposed memory had to be given back");
}

// Gives users their memory back, whatever libfabric is doing. Without the payload, what comes next
// in order is of no use.
void OfiEndpoint::end_zero_copy(const char* why) noexcept {
  if (!exposed_.empty()) transport_.stop(why);
  exposed_.clear();
  if (!read_) return;
  torn_ = true;
  transport_.leave_read(std::move(read_));
}

}  // namespace livebtl::ofi
