// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_progress.cc -- the progress of a verbs transport: completions, work that
// endpoints deferred, connections that end, and silence (see verbs_transport.h).
#include <algorithm>

#include "base/assert.h"
#include "transports/verbs/verbs_errors.h"
#include "transports/verbs/verbs_transport.h"

namespace livebtl::verbs {

std::size_t VerbsTransport::progress(core::TransportSink& /*accept*/, TimeNs now,
                                     std::size_t frames_max) noexcept {
  now_ = now;
  if (!device_) return 0;
  // Events are rare; asking for them costs a system call.
  constexpr TimeNs kEventsEvery = 10 * kMillisecond;
  if (std::exchange(armed_, false) || now - events_at_ >= kEventsEvery) take_events();
  std::size_t moved = settle(frames_max);
  moved += take_seen(frames_max - moved);
  if (seen_count_ == 0) moved += poll(frames_max - moved);
  if (now >= sweep_at_) sweep();
  if (!lost_.empty()) {
    all_down(lost_);
    if (ends_.empty()) close_device();
  }
  return moved;
}

// What arm() read; frames beyond the budget are kept for the next time.
std::size_t VerbsTransport::take_seen(std::size_t frames_max) noexcept {
  std::size_t moved = 0, at = 0;
  const auto count = static_cast<std::size_t>(seen_count_);
  while (at < count && moved < frames_max) moved += complete(seen_[at++]) ? 1 : 0;
  std::copy(seen_.begin() + static_cast<std::ptrdiff_t>(at),
            seen_.begin() + static_cast<std::ptrdiff_t>(count), seen_.begin());
  seen_count_ = static_cast<int>(count - at);
  return moved;
}

std::size_t VerbsTransport::poll(std::size_t frames_max) noexcept {
  // Completions in one progress(), besides those of frames: others get a turn.
  constexpr std::size_t kControlsPerTurn = 256;
  std::size_t moved = 0, others = 0;
  std::array<ibv_wc, 16> done;
  while (moved < frames_max && others < kControlsPerTurn && lost_.empty()) {
    ++polls_;
    const int wanted = static_cast<int>(std::min(done.size(), frames_max - moved));
    const int count = calls_.poll_cq(device_->completions(), wanted, done.data());
    if (count < 0) {
      take_events();  // they may tell more
      lose_device("its completions cannot be read any more");
      break;
    }
    if (count < wanted) sweep_parked();
    for (int i = 0; i < count; ++i)
      (complete(done[static_cast<std::size_t>(i)]) ? moved : others) += 1;
    if (count < wanted) break;
  }
  return moved;
}

// true: a frame was handed on.
bool VerbsTransport::complete(const ibv_wc& done) noexcept {
  return WorkId::is_receive(done.wr_id) ? complete_receive(done) : complete_send(done);
}

bool VerbsTransport::complete_receive(const ibv_wc& done) noexcept {
  const std::uint32_t buffer = WorkId::buffer(done.wr_id);
  if (VerbsEndpoint* endpoint = find(done.qp_num)) {
    if (done.status == IBV_WC_SUCCESS) return endpoint->arrived({buffer, done.byte_len});
    buffer_free(buffer);
    endpoint->take_down(explain(done.status, endpoint->describe()));
    return false;
  }
  // Its endpoint has gone; the credit is returned with the queue pair.
  buffer_free(buffer);
  if (Parked* parked = find_parked(done.qp_num)) {
    const char* why = nullptr;
    const auto message =
        messages::decode_message(device_->received(buffer, done.byte_len), kPayloadBytesMax, why);
    const bool over = done.status != IBV_WC_SUCCESS || !message || message->head.kind == Kind::kBye;
    if (over) break_up(*parked);
  }
  return false;
}

bool VerbsTransport::complete_send(const ibv_wc& done) noexcept {
  Send* const send = device_->find_send(done.wr_id);
  if (send == nullptr) return false;
  QueuePair* const pair = send->owner;
  const bool read = send->use_for == Use::kRead;
  if (pair != nullptr) pair->completed(*send);
  device_->end_send(*send);
  if (pair == nullptr) return false;  // destroyed meanwhile
  const bool good = done.status == IBV_WC_SUCCESS;
  if (VerbsEndpoint* const endpoint = find(pair->number())) {
    if (!good) {
      endpoint->take_down(explain(done.status, endpoint->describe()));
      return false;
    }
    endpoint->peer_answered();
    return read && endpoint->read_done();
  }
  Parked* const parked = find_parked(pair->number());
  if (parked != nullptr && (!good || pair->sends() == 0)) break_up(*parked);
  return false;
}

void VerbsTransport::sweep() noexcept {
  sweep_at_ = now_ + 100 * kMillisecond;
  for (const auto& [number, endpoint] : ends_) endpoint->ask_if_silent(now_);
}

// The completion queue has just been read until it was empty: it holds nothing any more of pairs
// broken up before that. What was read is not handled yet.
void VerbsTransport::sweep_parked() noexcept {
  // A BYE arrives at once or, usually, never: the other end may have gone at the same time.
  constexpr TimeNs kPartingTime = 10 * kMillisecond;
  device_->completions_seen_empty();
  for (std::size_t i = 0; i < parked_.size();) {
    Parked& parked = parked_[i];
    if (parked.broken_at != 0 && parked.broken_at < polls_) {
      credits_.leave(parked.open_grants);
      const auto held = parked.held;
      parked_.erase(parked_.begin() + static_cast<std::ptrdiff_t>(i));
      if (held) buffer_free(*held);
      continue;
    }
    if (parked.until == 0) parked.until = now_ + kPartingTime;
    if (now_ >= parked.until) break_up(parked);
    ++i;
  }
}

void VerbsTransport::break_up(Parked& parked) noexcept {
  if (parked.broken_at != 0) return;
  parked.broken_at = polls_;
  parked.pair->break_up();
}

void VerbsTransport::buffer_free(std::uint32_t buffer) noexcept {
  if (!device_ || !lost_.empty()) return;  // nothing comes any more
  if (!device_->post_receive(buffer)) lose_device("it takes no receive buffers any more");
}

VerbsTransport::Parked* VerbsTransport::find_parked(std::uint32_t number) noexcept {
  const auto found = std::find_if(parked_.begin(), parked_.end(), [&](const Parked& parked) {
    return parked.pair->number() == number;
  });
  return found == parked_.end() ? nullptr : &*found;
}

}  // namespace livebtl::verbs
