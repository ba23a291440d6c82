// SPDX-License-Identifier: BSD-3-Clause
// core/bml/bml_paths.cc -- the BML's choice among paths: which is used, and how the ordered lane moves
// from one to another. What is missing is dialled in bml_dial.cc.
#include "base/log.h"
#include "core/engine/core.h"

namespace livebtl::core {

Path* Bml::open_path(Peer& peer, std::string_view transport) noexcept {
  for (auto& path : peer.paths) {
    if (path->open() && path->confirmed && !path->closing && path->slot.name() == transport &&
        (path->dialled || peer.process != core_.config.process))
      return path.get();
  }
  return nullptr;
}

bool Bml::connected(const Peer& peer) const noexcept {
  return std::any_of(peer.paths.begin(), peer.paths.end(),
                     [](const auto& path) { return path->open(); });
}

// Computes the pair's path set anew, and dials what is missing.
void Bml::elect(Peer& peer) noexcept {
  if (peer.lost || peer.departed || core_.hold.parks()) return;
  const RoutingView routing = view(peer, core_.switching.in_force());
  const std::vector<Candidate> candidates = reachable(peer);
  const std::string wanted = choose(routing, candidates).value_or("");
  Path* best = open_path(peer, wanted);
  // Fail-over: what is permitted and lives. A path that the peer opened serves until the wanted one
  // is there.
  if (best == nullptr && (peer.send_path == nullptr || !peer.send_path->open())) {
    for (const std::string& name : permitted(routing, candidates)) {
      if (best == nullptr) best = open_path(peer, name);
    }
  }
  if (best != nullptr) move_send_path(peer, best);
  refresh_bulk_paths(peer);
  const bool missing =
      open_path(peer, wanted) == nullptr && (peer.send_path != nullptr || peer.has_to_send());
  if (missing || !missing_equals(peer).empty()) want_path(peer);
}

namespace {

bool carries_bulk(const Peer& peer, const Path& path) noexcept {
  return std::find(peer.bulk_paths.begin(), peer.bulk_paths.end(), &path) != peer.bulk_paths.end();
}

}  // namespace

bool Bml::left(const Peer& peer, const Path& path) const noexcept {
  if (!path.open() || &path == peer.send_path) return false;
  return path.sent_before != 0 || (path.marker.left() && !carries_bulk(peer, path));
}

void Bml::move_send_path(Peer& peer, Path* to) noexcept {
  Path* from = peer.send_path;
  if (from == to) return;
  TxLane& tx = peer.tx;
  if (from != nullptr && from->open()) {
    // Make before break: the marker is the last frame on the old path.
    from->marker.leave();
    tx.overtake_bytes = kOvertakeBytesMax;
  }
  to->marker.rejoin();
  to->sent_before = tx.next_seq;
  if (tx.replay_seq < tx.replay_end) tx.replay_seq = std::max(tx.replay_seq, to->peer_next);
  peer.send_path = to;
  ++peer.generation;
  core_.sender.mark_dirty(peer);
  core_.events.push({EngineEvent::Kind::kSwitched, peer.process, to->slot.name()});
  log(LogLevel::kInfo, "engine", "pair %s sends by %s (was %s) from number %llu on",
      peer.name().c_str(), to->slot.name().c_str(),
      from == nullptr ? "nothing" : from->slot.name().c_str(),
      static_cast<unsigned long long>(tx.next_seq));
}

// The routing takes away what the pair sends on and has nothing else for it, or the job is held:
// what is sent from now on waits.
void Bml::stop_sending(Peer& peer, const char* why) noexcept {
  Path& from = *peer.send_path;
  from.marker.leave();
  peer.tx.overtake_bytes = kOvertakeBytesMax;
  peer.send_path = nullptr;
  peer.bulk_paths.clear();
  mark_left_bulk(peer);
  ++peer.generation;
  core_.sender.mark_dirty(peer);
  log(LogLevel::kInfo, "engine", "pair %s sends by nothing (was %s): %s", peer.name().c_str(),
      from.slot.name().c_str(), why);
}

void Bml::leave_too(const Peer& peer, Path& path) noexcept {
  if (&path != peer.send_path) path.marker.leave_too();
}

void Bml::on_marker_ack(Path& path, std::uint64_t ordinal) noexcept {
  if (path.marker.on_ack(ordinal)) note_left_paths(*path.peer);
}

// Once no path that we have left holds anything any more, nothing can be overtaken.
void Bml::note_left_paths(Peer& peer) noexcept {
  const bool others_wait = std::any_of(peer.paths.begin(), peer.paths.end(), [](const auto& each) {
    return each->open() && each->marker.awaited();
  });
  if (!others_wait) peer.tx.overtake_bytes = SIZE_MAX;
  core_.sender.mark_dirty(peer);
}

// Exclusivity and weight in force.
std::pair<std::uint32_t, std::uint32_t> Bml::tuned(const TransportSlot& slot) const {
  const auto& tuning = core_.switching.in_force().tuning;
  const auto found = tuning.find(slot.name());
  const Tuning values = found == tuning.end() ? Tuning{} : found->second;
  return {values.exclusivity.value_or(slot.caps.exclusivity),
          std::max(1U, values.weight.value_or(std::max(1U, slot.caps.bandwidth_mbps / 1000)))};
}

void Bml::refresh_bulk_paths(Peer& peer) noexcept {
  peer.bulk_paths.clear();
  if (peer.send_path == nullptr) return mark_left_bulk(peer);
  const std::uint32_t exclusivity = tuned(peer.send_path->slot).first;
  const std::vector<std::string> allowed =
      permitted(view(peer, core_.switching.in_force()), reachable(peer));
  for (auto& path : peer.paths) {
    const bool equal =
        tuned(path->slot).first == exclusivity &&
        std::find(allowed.begin(), allowed.end(), path->slot.name()) != allowed.end();
    if (!path->open() || !path->confirmed || path->closing ||
        (path.get() != peer.send_path && !equal))
      continue;
    if (peer.process == core_.config.process && path.get() != peer.send_path) continue;
    path->weight = tuned(path->slot).second;
    path->striped_bytes = 0;
    peer.bulk_paths.push_back(path.get());
  }
  mark_left_bulk(peer);
}

// Also a path that carried only data of large messages is proved empty by a marker once it is in
// use no more: a hold, and whoever takes its transport away, must know that nothing is on its way.
void Bml::mark_left_bulk(Peer& peer) noexcept {
  for (auto& path : peer.paths) {
    if (!path->open() || !path->marker.placed() || path.get() == peer.send_path ||
        carries_bulk(peer, *path))
      continue;
    path->marker.leave();
    core_.sender.mark_dirty(peer);
  }
}

}  // namespace livebtl::core
