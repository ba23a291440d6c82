// SPDX-License-Identifier: BSD-3-Clause
// core/bml/elector.cc -- see elector.h.
#include "core/bml/elector.h"

#include "base/log.h"
#include "core/bml/dialler.h"
#include "core/bml/peers.h"
#include "core/bml/slots.h"
#include "core/engine/context.h"
#include "core/lane/send.h"
#include "core/switch/hold.h"
#include "core/switch/switching.h"

namespace livebtl::core {

Path* Elector::open_path(Peer& peer, std::string_view transport) noexcept {
  for (auto& path : peer.paths) {
    if (path->open() && path->confirmed && !path->closing && path->slot.name() == transport &&
        (path->dialled || peer.process != context_.config.process))
      return path.get();
  }
  return nullptr;
}

void Elector::elect(Peer& peer) noexcept {
  if (peer.lost || peer.departed || hold_.parks()) return;
  const std::vector<std::string> allowed = permitted_to(peer);
  const std::string_view wanted = allowed.empty() ? std::string_view{} : allowed.front();
  Path* best = open_path(peer, wanted);
  // Fail-over to any permitted path that is open. A path that the peer opened serves until the
  // wanted one is open.
  if (best == nullptr && (peer.send_path == nullptr || !peer.send_path->open())) {
    for (const std::string& name : allowed) {
      if (best == nullptr) best = open_path(peer, name);
    }
  }
  if (best != nullptr) move_send_path(peer, best);
  refresh_bulk_paths(peer, allowed);
  const bool missing =
      open_path(peer, wanted) == nullptr && (peer.send_path != nullptr || peer.has_to_send());
  if (missing || !missing_of(peer, allowed).empty()) dialler_.want_path(peer);
}

std::vector<std::string> Elector::permitted_to(const Peer& peer) const {
  return permitted(peers_.view(peer, switching_.in_force()), peers_.reachable(peer));
}

void Elector::elect_all() noexcept {
  peers_.for_each_met([&](Peer& peer) {
    if (peer.send_path != nullptr || !peer.paths.empty()) elect(peer);
  });
}

namespace {

bool carries_bulk(const Peer& peer, const Path& path) noexcept {
  return std::ranges::find(peer.bulk_paths, &path) != peer.bulk_paths.end();
}

}  // namespace

// A path that carries bulk data may never be empty: there only the ordered lane's marker counts.
bool Elector::left(const Peer& peer, const Path& path) const noexcept {
  if (!path.open() || &path == peer.send_path) return false;
  if (carries_bulk(peer, path)) return path.send_path_since != 0 && path.marker.awaited();
  return path.send_path_since != 0 || path.marker.left();
}

void Elector::move_send_path(Peer& peer, Path* to) noexcept {
  Path* from = peer.send_path;
  if (from == to) return;
  TxLane& tx = peer.tx;
  if (from != nullptr && from->open()) {
    // Make before break: the marker is the last frame on the old path.
    from->marker.leave();
    tx.on_moved();
  }
  tx.lease.end();
  to->marker.rejoin();
  to->send_path_since = tx.next_seq;
  if (tx.replay_seq < tx.replay_end) tx.replay_seq = std::max(tx.replay_seq, to->peer_next);
  peer.send_path = to;
  ++peer.generation;
  sender_.mark_dirty(peer);
  context_.events.push({EngineEvent::Kind::kSwitched, peer.process, to->slot.name()});
  log(LogLevel::kInfo, "engine", "pair %s sends by %s (was %s) from number %llu on",
      peer.name().c_str(), to->slot.name().c_str(),
      from == nullptr ? "nothing" : from->slot.name().c_str(),
      static_cast<unsigned long long>(tx.next_seq));
}

// The routing takes away the send path and offers no other, or the job is held: later sends wait.
void Elector::stop_sending(Peer& peer, const char* why) noexcept {
  Path& from = *peer.send_path;
  from.marker.leave();
  peer.tx.lease.end();
  peer.tx.on_moved();
  peer.send_path = nullptr;
  peer.bulk_paths.clear();
  mark_left_bulk(peer);
  ++peer.generation;
  sender_.mark_dirty(peer);
  log(LogLevel::kInfo, "engine", "pair %s has no path to send on (was %s): %s", peer.name().c_str(),
      from.slot.name().c_str(), why);
}

void Elector::leave_too(const Peer& peer, Path& path) noexcept {
  if (&path != peer.send_path) path.marker.leave_too();
}

void Elector::on_peer_left(const Peer& peer, Path& path) noexcept {
  if (!hold_.parks()) leave_too(peer, path);
}

void Elector::on_marker_ack(Path& path, std::uint64_t ordinal) noexcept {
  if (path.marker.on_ack(ordinal)) sender_.mark_dirty(*path.peer);
}

// Exclusivity and weight in force.
std::pair<std::uint32_t, std::uint32_t> Elector::tuned(const TransportSlot& slot) const {
  const Tuning values = switching_.in_force().tuned(slot.name());
  return {values.exclusivity.value_or(slot.caps.exclusivity),
          std::max(1U, values.weight.value_or(std::max(1U, slot.caps.bandwidth_mbps / 1000)))};
}

// How large messages are copied under the routing in force.
Copies Elector::copies(const TransportSlot& slot) const {
  const std::optional<SingleCopy> way = switching_.in_force().tuned(slot.name()).single_copy;
  if (way == SingleCopy::kNone) return Copies::kTwice;
  const bool measured = way ? *way == SingleCopy::kAuto : slot.caps.copying_may_be_faster;
  return measured ? Copies::kMeasured : Copies::kOnce;
}

void Elector::refresh_bulk_paths(Peer& peer, std::span<const std::string> allowed) noexcept {
  peer.bulk_paths.clear();
  if (peer.send_path == nullptr) return mark_left_bulk(peer);
  const std::uint32_t exclusivity = tuned(peer.send_path->slot).first;
  for (auto& path : peer.paths) {
    const auto [its_exclusivity, weight] = tuned(path->slot);
    const bool equal =
        its_exclusivity == exclusivity &&
        std::find(allowed.begin(), allowed.end(), path->slot.name()) != allowed.end();
    if (!path->open() || !path->confirmed || path->closing ||
        (path.get() != peer.send_path && !equal))
      continue;
    if (peer.process == context_.config.process && path.get() != peer.send_path) continue;
    path->weight = weight;
    path->copies = copies(path->slot);
    path->endpoint->copy_by(switching_.in_force().tuned(path->slot.name()).single_copy);
    path->striped_bytes = 0;
    peer.bulk_paths.push_back(path.get());
  }
  mark_left_bulk(peer);
}

// A path that carried only bulk data is also proved empty by a marker when it is no longer used: a
// hold, and an order that removes its transport, must know that it is empty.
void Elector::mark_left_bulk(Peer& peer) noexcept {
  for (auto& path : peer.paths) {
    if (!path->open() || !path->marker.placed() || path.get() == peer.send_path ||
        carries_bulk(peer, *path))
      continue;
    path->marker.leave();
    sender_.mark_dirty(peer);
  }
}

std::vector<std::string> Elector::missing_equals(Peer& peer) {
  return missing_of(peer, permitted_to(peer));
}

std::vector<std::string> Elector::missing_of(Peer& peer, std::span<const std::string> allowed) {
  std::vector<std::string> missing;
  if (peer.send_path == nullptr || peer.process == context_.config.process) return missing;
  const std::uint32_t exclusivity = tuned(peer.send_path->slot).first;
  for (const std::string& name : allowed) {
    const TransportSlot* slot = slots_.find(name);
    if (slot != nullptr && tuned(*slot).first == exclusivity && open_path(peer, name) == nullptr)
      missing.push_back(name);
  }
  return missing;
}

void Elector::park(Peer& peer) noexcept {
  if (peer.lost || peer.send_path == nullptr) return;
  if (!peer.departed) return stop_sending(peer, "the job is held");
  peer.tx.lease.end();  // the peer has ended: it would not acknowledge a marker
  peer.send_path = nullptr;
  peer.bulk_paths.clear();
}

std::string Elector::still_on_its_way(const Peer& peer) const {
  if (peer.lost || peer.departed) return "";
  for (const auto& path : peer.paths) {
    if (path->down()) return "a broken path is being cleared away";
    if (!path->open()) continue;
    if (path->marker.awaited()) return "the marker behind our last frame is not acknowledged";
    if (path->marker.answer_due() != 0) return "its marker is not acknowledged yet";
    if (path->endpoint->in_flight() != 0 || !path->posted.empty())
      return "frames are still in the path's buffers";
  }
  return "";
}

// A marker not acknowledged yet, because the hold's lease ran out, is still waited for as usual.
void Elector::unpark(Peer& peer) noexcept {
  peer.dials.forget();
  elect(peer);
  for (auto& path : peer.paths) {
    if (path->open() && path->marker.peer_left()) leave_too(peer, *path);
  }
  sender_.mark_dirty(peer);
}

}  // namespace livebtl::core
