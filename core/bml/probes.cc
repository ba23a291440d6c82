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
  path.excused = false;
  path.probe_due = path.probe_unposted = true;
  sender_.mark_dirty(*path.peer);
}

namespace {

// What we wait for: the answer to a probe or a marker; an empty buffer (the other end may be gone
// without our seeing it); acknowledgements of frames sent on this path; the end of large messages
// whose data may have been; after a peer's goodbye, the path's end, which may get lost. What a hold
// keeps back is not awaited.
bool awaits_something(const Peer& peer, const Path& path, bool held) noexcept {
  if (!path.keeps) return false;
  if (path.probed != 0 || path.endpoint->in_flight() != 0) return true;
  if (path.marker.awaited()) return true;
  if (held) return false;
  if (peer.departed) return true;
  // With something to send and no path to send it on, find out whether the peer is there at all.
  if (peer.send_path == nullptr && peer.has_to_send()) return true;
  const bool sends = &path == peer.send_path && peer.tx.window && !peer.tx.window->empty();
  return sends || (path.marker.placed() && peer.transfers_asked != 0);
}

/// Counts the signs that the other end lives: frames received, and data of large messages that left
/// our queues because the other end or its machine had room for it (or just our own socket, for as
/// much as that holds).
std::uint64_t signs_of_life(const Path& path) noexcept {
  return path.endpoint->stats().frames_received + path.sent;
}

}  // namespace

// Nobody looks while nothing is awaited: silence begins at the first look that finds it awaited.
bool Probes::awaited(const Peer& peer, Path& path) const noexcept {
  const bool before = std::exchange(path.awaited, awaits_something(peer, path, hold_.parks()));
  if (path.awaited && !before) path.heard = context_.now;
  return path.awaited;
}

TimeNs Probes::silence_max() const noexcept {
  return context_.config.settings.probe_ms * kMillisecond;
}

void Probes::begin_look() noexcept {
  const TimeNs since = context_.now - std::exchange(looked_at_, context_.now);
  late_ = since > silence_max() / 2;
}

// Once per deadline, so that a process that looks seldom also finds out that nobody answers. The
// answer may have come while the process was stopped or its machine paused; it is read before the
// next look.
void Probes::excuse(Path& path) noexcept {
  path.excused = true;
  path.deadline = std::max(path.deadline, context_.now + silence_max() / 2);
  if (path.probed != 0) path.probed = std::max(path.probed, context_.now - silence_max() / 2);
}

// What was awaited on this path has not come in time.
void Probes::run_out(Path& path, const char* what) noexcept {
  if (late_ && !path.excused) return excuse(path);
  path.break_down({Errc::kTimeout, what});
}

void Probes::check(Peer& peer, Path& path) noexcept {
  if (path.state == Path::State::kHello && context_.now > path.deadline)
    return run_out(path, "no answer to the hello in time");
  if (!path.open()) return;
  if (!path.keeps) {  // nothing is awaited there
    path.probed = 0;
    return;
  }
  const std::uint64_t signs = signs_of_life(path);
  if (!awaited(peer, path) || signs != path.signs_seen) {
    path.signs_seen = signs;
    path.heard = context_.now;
    path.probed = 0;
    return;
  }
  if (path.probed == 0 && context_.now - path.heard > silence_max()) {
    probe(path);
  } else if (path.probed != 0 && context_.now - path.probed > silence_max()) {
    run_out(path, "no answer to a probe");
  }
}

// A peer may have nothing to send for hours: it is asked seldom, since each probe wakes it.
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

// Both ends wait for a large message; for a message that finds no credit, its sender waits.
bool Probes::waits_for(const Peer& peer) const noexcept {
  return peer.has_to_send() || peer.has_unfinished() || ports_.waits_for(peer);
}

TimeNs Probes::round_due_at() noexcept {
  bool waits = ports_.waits_for_one();
  peers_.for_each_met(
      [&](const Peer& peer) { waits = waits || peer.has_to_send() || peer.has_unfinished(); });
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

// Frames received meanwhile defer the deadline; the look notices that.
TimeNs Probes::due_at(Peer& peer) const noexcept {
  TimeNs due = kNoDeadline;
  for (auto& path : peer.paths) {
    if (path->state == Path::State::kHello) due = std::min(due, path->deadline + 1);
    if (path->open() && awaited(peer, *path))
      due = std::min(due, (path->probed != 0 ? path->probed : path->heard) + silence_max() + 1);
  }
  return due;
}

}  // namespace livebtl::core
