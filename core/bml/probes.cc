// SPDX-License-Identifier: BSD-3-Clause
// core/bml/probes.cc -- see probes.h.
#include "core/bml/probes.h"

#include <algorithm>
#include <utility>

#include "core/bml/peers.h"
#include "core/engine/context.h"
#include "core/lane/port_state.h"
#include "core/lane/send.h"
#include "core/switch/hold.h"

namespace livebtl::core {

void Probes::probe(Path& path) noexcept {
  if (path.probed != 0) return;
  path.probed = context_.now;
  path.probe_due = true;
  sender_.mark_dirty(*path.peer);
}

namespace {

// What we wait for: the answer to a probe or a marker, an empty buffer (the other end may be gone
// without our seeing it), acknowledgements of what went on this path, and the end of large messages
// whose data may have; of a peer that has said goodbye the path's end, which may not get through. What
// a hold keeps back is not on its way.
bool awaits_something(const Peer& peer, const Path& path, bool held) noexcept {
  if (!path.keeps) return false;
  if (path.probed != 0 || path.endpoint->in_flight() != 0) return true;
  if (path.marker.awaited()) return true;
  if (held) return false;
  if (peer.departed) return true;
  // With something to say and nothing to say it by, find out whether anybody is there at all.
  if (peer.send_path == nullptr && peer.has_to_send()) return true;
  const bool sends = &path == peer.send_path && peer.tx.window && !peer.tx.window->empty();
  return sends || (path.marker.placed() && peer.transfers_asked != 0);
}

}  // namespace

// Nobody looks while nothing is awaited: silence begins with the first look that finds something.
bool Probes::awaited(const Peer& peer, Path& path) const noexcept {
  const bool before = std::exchange(path.awaited, awaits_something(peer, path, hold_.parks()));
  if (path.awaited && !before) path.heard = context_.now;
  return path.awaited;
}

void Probes::check(Peer& peer, Path& path) noexcept {
  if (path.state == Path::State::kHello && context_.now > path.deadline)
    return path.break_down({Errc::kTimeout, "no answer to the hello in time"});
  if (!path.open()) return;
  if (!path.keeps) {  // nothing is awaited there
    path.probed = 0;
    return;
  }
  const std::uint64_t frames = path.endpoint->stats().frames_received;
  if (!awaited(peer, path) || frames != path.heard_frames) {
    path.heard_frames = frames;
    path.heard = context_.now;
    path.probed = 0;
    return;
  }
  const TimeNs silence_max = context_.config.settings.probe_ms * kMillisecond;
  if (path.probed == 0 && context_.now - path.heard > silence_max) {
    probe(path);
  } else if (path.probed != 0 && context_.now - path.probed > silence_max) {
    path.break_down({Errc::kTimeout, "no answer to a probe"});
  }
}

// It may have nothing to send for hours: then it is asked seldom, since the question wakes it.
void Probes::make_rounds() noexcept {
  if (context_.now < round_at_) return;
  constexpr TimeNs kRound = 15;
  round_at_ = context_.now + kRound * context_.config.settings.probe_ms * kMillisecond;
  if (hold_.parks()) return;
  peers_.for_each([&](Peer& peer) {
    const bool wanted = waits_for(peer);
    if (wanted && is_unmet(peer)) events_.want_path(peer);
    for (auto& path : peer.paths) {
      if (!path->open() || !path->keeps) continue;
      const std::uint64_t frames = path->endpoint->stats().frames_received;
      if (std::exchange(path->round_frames, frames) == frames && wanted) probe(*path);
    }
  });
}

bool Probes::is_unmet(const Peer& peer) const noexcept {
  return peer.paths.empty() && !peer.departed && !peer.dials.again && peer.cut_off_since == 0 &&
         peer.process != context_.config.process;
}

// A large message is waited for by its receiver, and a message that finds no credit by its sender.
bool Probes::waits_for(const Peer& peer) const noexcept {
  return peer.has_to_send() || peer.transfers_asked != 0 || ports_.waits_for(peer);
}

TimeNs Probes::round_due_at() noexcept {
  bool waits = ports_.waits_for_one();
  peers_.for_each_met(
      [&](const Peer& peer) { waits = waits || peer.has_to_send() || peer.transfers_asked != 0; });
  return waits ? round_at_ : kNoDeadline;
}

void Probes::request_acks() noexcept {
  peers_.for_each([&](Peer& peer) {
    if (peer.send_path == nullptr || !peer.tx.window || peer.tx.window->empty()) return;
    peer.send_path->probe_due = true;
    sender_.mark_dirty(peer);
  });
}

void Probes::keep_time(Peer& peer) noexcept {
  for (auto& path : peer.paths) check(peer, *path);
}

// Frames that have come meanwhile put it off, which the look finds out.
TimeNs Probes::due_at(Peer& peer) const noexcept {
  const TimeNs silence_max = context_.config.settings.probe_ms * kMillisecond;
  TimeNs due = kNoDeadline;
  for (auto& path : peer.paths) {
    if (path->state == Path::State::kHello) due = std::min(due, path->deadline + 1);
    if (path->open() && awaited(peer, *path))
      due = std::min(due, (path->probed != 0 ? path->probed : path->heard) + silence_max + 1);
  }
  return due;
}

}  // namespace livebtl::core
