// SPDX-License-Identifier: BSD-3-Clause
// core/bml/bml_hold.cc -- the BML's part of a HOLD (hold.h): a pair's paths are left by markers, and
// taken up again. Under the engine's lock.
#include "core/engine/core.h"

namespace livebtl::core {

void Bml::park(Peer& peer) noexcept {
  if (peer.lost || peer.departed || peer.send_path == nullptr) return;
  stop_sending(peer, "the job is held");
}

// What does not keep connects processes of one machine, which were restored with it.
void Bml::close_connections() noexcept {
  give_up_greetings();
  for_each_peer([&](Peer& peer) {
    if (peer.process == core_.config.process) return;
    for (auto& path : peer.paths) {
      if (path->keeps) close_path(*path);
    }
    forget_failed_dials(peer);
  });
}

void Bml::give_up_greetings() noexcept {
  for (auto& stranger : strangers_) close_path(*stranger);
  for_each_peer([&](Peer& peer) {
    for (auto& path : peer.paths) {
      if (!path->open()) close_path(*path);
    }
  });
}

std::uint64_t Bml::frames_taken() const noexcept {
  std::uint64_t taken = 0;
  for (const auto& [id, peer] : peers_)
    taken += peer->rx.reorder.expected() - core_.config.first_seq;
  return taken;
}

// "": nothing of ours is on its way to the peer. Else what is still waited for.
std::string Bml::unparked(const Peer& peer) const {
  if (peer.lost || peer.departed) return "";
  for (const auto& path : peer.paths) {
    if (path->state == Path::State::kDown) return "a broken path is being cleared away";
    if (!path->open()) continue;
    if (path->marker.awaited()) return "the marker behind our last frame is not acknowledged";
    if (path->marker.answer_due() != 0) return "its marker is not acknowledged yet";
    if (path->endpoint->in_flight() != 0 || !path->posted.empty())
      return "frames are still in the path's buffers";
  }
  return "";
}

// A marker that is not acknowledged yet, since the lease ran out, is waited for as ever.
void Bml::unpark(Peer& peer) noexcept {
  forget_failed_dials(peer);
  elect(peer);
  for (auto& path : peer.paths) {
    if (path->open() && path->marker.peer_left()) leave_too(peer, *path);
  }
  note_left_paths(peer);
}

}  // namespace livebtl::core
