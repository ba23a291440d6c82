// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_progress.cc -- the progress of an ofi transport: completions, work that
// endpoints deferred, and silence (see ofi_transport.h).
#include <algorithm>

#include "base/log.h"
#include "transports/ofi/ofi_transport.h"

namespace livebtl::ofi {

std::size_t OfiTransport::progress(core::TransportSink& /*accept*/, TimeNs now,
                                   std::size_t frames_max) noexcept {
  now_ = now;
  sleep_.wake();
  if (!lost_.empty()) {
    all_down();
    return 0;
  }
  post_again();
  std::size_t moved = settle(frames_max);
  moved += take_seen(frames_max - moved);
  if (seen_count_ == 0) moved += poll(frames_max - moved);
  if (now >= sweep_at_) look();
  return moved;
}

void OfiTransport::look() noexcept {
  sweep_at_ = now_ + 100 * kMillisecond;
  pending_byes_.look(*domain_, now_);
  if (const Status replaced = domain_->replace_forgotten(now_); !replaced)
    lose(replaced.error().text);
  if ((extension_ && extension_->look(now_)) || has_forgotten_reads())
    lose("ofi: " + domain_->provider() + " has left operations on memory unfinished");
  for_each([this](OfiEndpoint& endpoint) { endpoint.look(now_); });
}

// Its descriptor may stay readable for ever.
void OfiTransport::lose(const std::string& why) noexcept {
  if (!lost_.empty()) return;
  lost_ = untold_ = why;
  sleep_.watch(-1);
  log(LogLevel::kWarn, "ofi", "%s; it will be reopened", why.c_str());
}

std::size_t OfiTransport::poll(std::size_t frames_max) noexcept {
  // Completions in one progress(), including those of frames: others get a turn.
  constexpr std::size_t kCompletionsPerTurn = 256;
  std::size_t moved = 0;
  std::array<fi_cq_msg_entry, 16> entries;
  for (std::size_t seen = 0; moved < frames_max && seen < kCompletionsPerTurn && lost_.empty();) {
    const long count =
        domain_->read({entries.data(), std::min(entries.size(), frames_max - moved)});
    if (count == -FI_EAVAIL) {
      take_error();
      ++seen;
      continue;
    }
    if (count < 0) lose("ofi: " + domain_->provider() + ": " + domain_->explain(count));
    if (count <= 0) break;
    for (long i = 0; i < count; ++i)
      moved +=
          complete(entries[static_cast<std::size_t>(i)], frames_max - std::min(moved, frames_max));
    seen += static_cast<std::size_t>(count);
  }
  return moved;
}

std::size_t OfiTransport::complete(const fi_cq_msg_entry& entry, std::size_t frames_max) noexcept {
  sleep_.worked();
  if (entry.op_context == nullptr || is_a_peers(entry.flags)) return 0;
  Context& context = *static_cast<Context*>(entry.op_context);
  if (context.use == Use::kReceive)
    return received(static_cast<Buffer&>(context), entry.len, frames_max);
  return finish(context, 0);
}

// in: an operation that has ended, or a failed receive. Returns how many frames were handed on.
std::size_t OfiTransport::finish(Context& context, long code) noexcept {
  if (context.use == Use::kRemoteRead) return read_done(static_cast<RemoteRead&>(context), code);
  if (context.use == Use::kExtension)
    extension_->done(context, code);
  else if (context.use == Use::kReceive)
    buffer_free(static_cast<Buffer&>(context));  // its connection notices a gap
  else
    sent(static_cast<Buffer&>(context), code);
  return 0;
}

void OfiTransport::take_error() noexcept {
  fi_cq_err_entry entry;
  if (!domain_->read_error(entry)) return;
  if (entry.op_context == nullptr)  // of the provider as a whole
    return lose("ofi: " + domain_->provider() + ": " + domain_->explain(entry.err));
  if (is_a_peers(entry.flags)) return;
  (void)finish(*static_cast<Context*>(entry.op_context), entry.err == 0 ? FI_EIO : entry.err);
}

std::size_t OfiTransport::received(Buffer& buffer, std::size_t bytes,
                                   std::size_t frames_max) noexcept {
  Route route;
  const bool whole = bytes > sizeof route && bytes <= kBufferBytes;
  if (whole) std::memcpy(&route, buffer.bytes, sizeof route);
  if (whole && route.reserved == 0) {
    if (OfiEndpoint* const endpoint = find(route.to)) {
      endpoint->arrived(route.number, {&buffer, static_cast<std::uint32_t>(bytes)});
      const std::size_t moved = endpoint->deliver(frames_max);
      if (endpoint->has_ready()) settle_later(*endpoint);
      return moved;
    }
  } else if (!std::exchange(foreign_told_, true)) {
    log(LogLevel::kWarn, "ofi", "dropped a message from an unknown sender: not one of livebtl's");
  }
  buffer_free(buffer);  // late, or from somebody else
  return 0;
}

std::size_t OfiTransport::read_done(RemoteRead& read, long code) noexcept {
  if (read.owner != nullptr) return read.owner->read_done(code);
  const auto left = std::find_if(left_reads_.begin(), left_reads_.end(),
                                 [&](const auto& each) { return each.get() == &read; });
  read.step_failed();
  buffer_free(read.buffer());
  give_bounce(read.take_bounce());
  left_reads_.erase(left);
  return 0;
}

BounceBuffer OfiTransport::take_bounce() {
  BounceBuffer bounce;
  if (!bounces_.empty()) {
    bounce = std::move(bounces_.back());
    bounces_.pop_back();
    return bounce;
  }
  bounce.bytes.reset(new (std::nothrow) std::byte[messages::kExposedBytesMax]);
  if (bounce.bytes == nullptr || !domain_->has_mode(FI_MR_LOCAL)) return bounce;
  auto registration =
      domain_->register_memory({bounce.bytes.get(), messages::kExposedBytesMax}, FI_READ);
  if (registration) bounce.registration = std::move(*registration);
  return bounce;
}

void OfiTransport::give_bounce(BounceBuffer bounce) {
  constexpr std::size_t kKept = 8;
  const bool whole = bounce.registration || !domain_->has_mode(FI_MR_LOCAL);
  if (whole && bounces_.size() < kKept) bounces_.push_back(std::move(bounce));
}

bool OfiTransport::has_forgotten_reads() noexcept {
  for (const auto& read : left_reads_) {
    if (read->since == 0) read->since = now_;
    if (now_ - read->since >= kForgottenAfter) return true;
  }
  return false;
}

void OfiTransport::leave_read(std::unique_ptr<RemoteRead> read) noexcept {
  read->owner = nullptr;
  read->since = 0;
  // Even at the very end: its completion may have been read from the queue already.
  if (read->under_way()) {
    left_reads_.push_back(std::move(read));
  } else {
    buffer_free(read->buffer());
  }
}

void OfiTransport::stop(const char* why) noexcept {
  domain_->stop();
  lose("ofi: " + domain_->provider() + ": " + why);
}

void OfiTransport::sent(Buffer& buffer, long code) noexcept {
  OfiEndpoint* const owner = buffer.owner;
  const Use use = buffer.use;
  domain_->end_send(buffer);
  if (owner != nullptr) owner->sent(use, code);
}

void OfiTransport::buffer_free(Buffer& buffer) noexcept {
  unposted_.push_back(&buffer);
  post_again();
}

void OfiTransport::post_again() noexcept {
  while (!unposted_.empty() && lost_.empty()) {
    const long code = domain_->post_receive(*unposted_.back());
    if (code == -FI_EAGAIN) return;
    if (code != 0)
      return lose("ofi: " + domain_->provider() + " takes no buffers: " + domain_->explain(code));
    unposted_.pop_back();
  }
}

void OfiTransport::all_down() noexcept {
  for_each([this](OfiEndpoint& endpoint) { endpoint.take_down({Errc::kDown, lost_}); });
}

std::size_t OfiTransport::take_seen(std::size_t frames_max) noexcept {
  std::size_t moved = 0, at = 0;
  while (at < seen_count_ && moved < frames_max) moved += complete(seen_[at++], frames_max - moved);
  std::copy(seen_.begin() + static_cast<std::ptrdiff_t>(at),
            seen_.begin() + static_cast<std::ptrdiff_t>(seen_count_), seen_.begin());
  seen_count_ -= at;
  return moved;
}

}  // namespace livebtl::ofi
