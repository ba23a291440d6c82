// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_lending.cc -- large payloads of an endpoint: ours, which the peer reads from
// where they lie, and the peer's, which we read (see ofi_endpoint.h). Under the engine's lock.
//
// libfabric takes no operation back, and a provider made of software may look at memory long after
// its registration has ended. So nothing is read straight into a user's memory; and where a user
// wants memory back that is lent, our libfabric endpoint is closed, which ends all of that and all
// connections with it; they are dialled again.
#include "base/assert.h"
#include "base/crc32c.h"
#include "transports/ofi/ofi_transport.h"

namespace livebtl::ofi {
namespace {

constexpr TimeNs kFetchTime = 10 * kSecond;

Lent where(const Remote& at, Bytes memory, bool with_crc) noexcept {
  Lent lent;
  lent.address = at.address;
  lent.key = at.key;
  lent.bytes = static_cast<std::uint32_t>(memory.size());
  lent.crc_given = with_crc ? 1 : 0;
  if (with_crc) lent.crc = crc32c(memory);
  return lent;
}

}  // namespace

core::Post OfiEndpoint::lend(const core::Frame& frame) noexcept {
  LIVEBTL_ASSERT(frame.stable && frame.payload.size() >= kLentBytesMin &&
                     frame.payload.size() <= transport_.caps().lent_bytes_max,
                 "a payload within caps().payload_bytes_max, or a stable one that can be lent");
  if (!may_post() || lent_.size() >= kLentMax) return core::Post::kRetry;
  Buffer* const buffer = transport_.domain().begin_send(this, peer_, Use::kFrame);
  if (buffer == nullptr) return core::Post::kRetry;
  const MutableBytes memory{const_cast<std::byte*>(frame.payload.data()), frame.payload.size()};
  auto registration = transport_.domain().register_memory(memory, FI_REMOTE_READ);
  if (!registration) {
    ++stats_.registrations_refused;
    transport_.domain().end_send(*buffer);
    return core::Post::kSmaller;
  }
  const Lent lent = where(transport_.domain().remote(*registration, memory), memory, payload_crc_);
  std::byte* const to = buffer->bytes + sizeof(Route);
  if (!send(*buffer, messages::encode_lent(frame.header, bytes_of(lent), promised_, to)))
    return core::Post::kRetry;
  ++frames_;
  lent_.push_back({std::move(*registration), frame.cookie});
  ++stats_.frames_sent;
  ++stats_.frames_lent;
  stats_.bytes_sent += frame.header.size() + frame.payload.size();
  return core::Post::kPosted;
}

// in: how many the peer has fetched, in all. out: those are the user's again.
void OfiEndpoint::take_back(std::uint32_t fetched) noexcept {
  if (transport_.domain().stopped()) return;  // they were taken back
  if (fetched - lent_fetched_ > lent_.size())
    return take_down({Errc::kCorrupt, described_ + ": the peer fetched what was never lent"});
  // The sink may want all memory back meanwhile.
  while (lent_fetched_ != fetched && !lent_.empty()) {
    const std::uint64_t cookie = lent_.front().cookie;
    lent_.erase(lent_.begin());
    ++lent_fetched_;
    sink_->on_sent(cookie);
  }
}

// false: it came to nothing, and the connection is down.
bool OfiEndpoint::begin_fetch(Buffer& buffer, const messages::Message& message) noexcept {
  const auto lent = decode_lent(message.payload);
  if (!lent || !trusted() || transport_.caps().lent_bytes_max == 0) {
    take_down(
        {Errc::kCorrupt, described_ + ": a payload is lent that is malformed or not allowed"});
    return false;
  }
  Landing landing = transport_.take_landing();
  if (landing.bytes == nullptr) {
    take_down({Errc::kNoMemory, described_ + ": no memory for a payload that is lent"});
    return false;
  }
  fetch_ = std::make_unique<Fetch>(transport_.domain(), *this, buffer, message.header, *lent,
                                   std::move(landing));
  post_fetch();
  row_.each([this](const Arrived& waiting) {
    if (fetch_) look_for_bye(waiting);
  });
  return true;
}

void OfiEndpoint::post_fetch() noexcept {
  const long code = fetch_->post(peer_);
  if (code == 0) return;
  if (code != -FI_EAGAIN)
    failed_ = {Errc::kDown,
               described_ + ": nothing can be fetched: " + transport_.domain().explain(code)};
  transport_.settle_later(*this);
}

std::size_t OfiEndpoint::read_done(long code) noexcept {
  heard_ = transport_.now();
  if (code != 0) {
    fetch_->step_failed();
    take_down({Errc::kDown,
               described_ + ": a payload was not fetched: " + transport_.domain().explain(code)});
    return 0;
  }
  if (!fetch_->step_done()) {
    post_fetch();
    return 0;
  }
  return deliver_fetched() ? 1 : 0;
}

// All of it is there. true: a frame was handed on.
bool OfiEndpoint::deliver_fetched() noexcept {
  const std::unique_ptr<Fetch> done = std::move(fetch_);
  const bool intact = done->is_intact();
  if (intact) {
    ++fetched_;
    ++stats_.frames_received;
    ++stats_.frames_fetched;
    stats_.bytes_received += done->header().size() + done->payload().size();
    sink_->on_frame(done->header(), done->payload());
  } else {
    take_down({Errc::kCorrupt, described_ + ": a wrong checksum over a payload"});
  }
  transport_.give_landing(done->take_landing());
  buffer_free(done->buffer());
  tell();
  if (has_ready()) transport_.settle_later(*this);
  return intact;
}

// What waits behind a payload is not looked at, but for the peer's last word: nobody may answer the
// read any more.
void OfiEndpoint::look_for_bye(const Arrived& message) noexcept {
  const char* why = nullptr;
  const Bytes bytes{message.buffer->bytes + sizeof(Route), message.bytes - sizeof(Route)};
  const auto decoded = messages::decode_message(bytes, payload_accepted_, why);
  if (!decoded || decoded->head.kind != messages::Kind::kBye) return;
  peer_gone_ = true;
  take_down({Errc::kDown, described_ + ": the peer closed the connection"});
}

void OfiEndpoint::look_at_fetch(TimeNs now) noexcept {
  if (!fetch_) return;
  if (fetch_->since == 0) fetch_->since = now;
  if (now - fetch_->since >= kFetchTime)
    take_down({Errc::kDown, described_ + ": a payload that was lent is not there to be fetched"});
}

void OfiEndpoint::let_go() noexcept {
  if (!lent_.empty()) end_lending("memory was wanted back that was lent");
}

// Users' memory is theirs again, whatever libfabric is at. What comes next in the row is of no use
// without the payload.
void OfiEndpoint::end_lending(const char* why) noexcept {
  if (!lent_.empty()) transport_.stop(why);
  lent_.clear();
  if (!fetch_) return;
  torn_ = true;
  transport_.leave_fetch(std::move(fetch_));
}

}  // namespace livebtl::ofi
