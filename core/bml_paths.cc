// SPDX-License-Identifier: BSD-3-Clause
// core/bml_paths.cc -- the BML's choice among paths: which is used, which is wanted and dialled,
// and how the ordered lane moves from one to another.
#include "base/log.h"
#include "core/core.h"

namespace livebtl::core {

Path* Bml::open_path(Peer& peer, std::string_view transport) noexcept {
  for (auto& path : peer.paths) {
    if (path->open() && path->confirmed && !path->closing && path->slot.name() == transport &&
        (path->dialled || peer.process != core_.config.process))
      return path.get();
  }
  return nullptr;
}

bool Bml::dialling(const Peer& peer, std::string_view transport) const noexcept {
  return std::any_of(peer.paths.begin(), peer.paths.end(), [&](const auto& path) {
    return path->dialled && path->state == Path::State::kHello && path->slot.name() == transport;
  });
}

bool Bml::dialling(const Peer& peer) const noexcept {
  return std::any_of(peer.paths.begin(), peer.paths.end(), [](const auto& path) {
    return path->dialled && path->state == Path::State::kHello;
  });
}

bool Bml::connected(const Peer& peer) const noexcept {
  return std::any_of(peer.paths.begin(), peer.paths.end(),
                     [](const auto& path) { return path->open(); });
}

void Bml::want_path(Peer& peer) noexcept {
  if (peer.wants_path || peer.lost) return;
  peer.wants_path = true;
  wanting_.push_back(&peer);
}

bool Bml::dial(Peer& peer, TransportSlot& slot) {
  const bool own = peer.process == core_.config.process;
  const Blob address = own ? slot.transport->address() : peer.addresses[slot.name()];
  auto endpoint = slot.transport->connect(address);
  if (!endpoint) {
    log(LogLevel::kInfo, "engine", "cannot dial %s by %s: %s", peer.name().c_str(),
        slot.name().c_str(), endpoint.error().text.c_str());
    back_off(peer, slot.name());
    return false;
  }
  auto path =
      std::make_unique<Path>(core_, slot, std::move(*endpoint), true, core_.now + kHelloTimeout);
  path->peer = &peer;
  do {
    path->id = core_.random.next();
  } while (path->id == 0);
  const auto replaced = peer.lost_paths.find(slot.name());
  const std::uint64_t replaces = replaced == peer.lost_paths.end() ? 0 : replaced->second;
  path->told_addresses = addresses_version_;
  path->handshake = std::make_unique<Handshake>(
      Handshake::dial(core_.config.secret, facts(peer, path->id, replaces), peer.process));
  path->hello_out = path->handshake->start().send;
  greeting_.push_back(path.get());
  peer.paths.push_back(std::move(path));
  return true;
}

void Bml::back_off(Peer& peer, const std::string& transport) noexcept {
  TimeNs& delay = peer.dial_delay;
  delay = std::clamp<TimeNs>(delay * 2, kMillisecond, 200 * kMillisecond);
  peer.failed_until[transport] = core_.now + delay;
  if (delay >= kDialledInVain && !connected(peer)) seek(peer);
  // Two ends that dial each other must not do so in step.
  peer.dial_after = core_.now + delay / 2 +
                    static_cast<TimeNs>(core_.random.below(static_cast<std::uint64_t>(delay)));
  want_path(peer);
}

void Bml::forget_failed_dials() noexcept {
  for_each_peer([](Peer& peer) {
    peer.failed_until.clear();
    peer.dial_delay = peer.dial_after = 0;
  });
}

// Computes the pair's path set anew, and dials what is missing.
void Bml::elect(Peer& peer) noexcept {
  if (peer.lost || peer.departed) return;
  const Routing& routing = core_.switching.in_force();
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
  const bool missing = open_path(peer, wanted) == nullptr &&
                       (peer.send_path != nullptr || !peer.tx.idle() || !peer.sending.empty());
  if (missing || !missing_equals(peer).empty()) want_path(peer);
}

// What could share bulk data with the path that the pair sends on, and has no path yet.
std::vector<std::string> Bml::missing_equals(Peer& peer) {
  std::vector<std::string> missing;
  if (peer.send_path == nullptr || peer.process == core_.config.process) return missing;
  const std::uint32_t exclusivity = tuned(peer.send_path->slot).first;
  for (const std::string& name : permitted(core_.switching.in_force(), reachable(peer))) {
    const TransportSlot* slot = find_slot(name);
    if (slot != nullptr && tuned(*slot).first == exclusivity && open_path(peer, name) == nullptr)
      missing.push_back(name);
  }
  return missing;
}

void Bml::dial_wanted(Peer& peer) noexcept {
  if (peer.lost || peer.departed) return;
  if (!peer.fatal_refusal.empty()) return lose_peer(peer, peer.fatal_refusal);
  const Routing& routing = core_.switching.in_force();
  const std::vector<Candidate> candidates = reachable(peer);
  std::vector<std::string> order = permitted(routing, candidates);
  // An address has room for few contacts. Over a quiesced transport no traffic goes, but the hello
  // tells what else the peer reaches.
  if (order.empty()) order = connectable(routing, candidates);
  if (order.empty())
    note_cut_off(peer);
  else
    peer.cut_off_since = 0;
  for (const std::string& name : order) {
    if (open_path(peer, name) != nullptr) return dial_equals(peer);  // nothing better is there
    if (dialling(peer, name)) return;
    if (!failed_lately(peer, name) && dial(peer, *find_slot(name))) return;
  }
  want_path(peer);  // all failed lately, or none is permitted now: again later
}

void Bml::dial_equals(Peer& peer) {
  for (const std::string& name : missing_equals(peer)) {
    if (dialling(peer, name)) continue;
    if (failed_lately(peer, name) || !dial(peer, *find_slot(name))) want_path(peer);
  }
}

bool Bml::failed_lately(const Peer& peer, const std::string& transport) const {
  const auto failed = peer.failed_until.find(transport);
  return failed != peer.failed_until.end() && failed->second > core_.now;
}

void Bml::move_send_path(Peer& peer, Path* to) noexcept {
  Path* from = peer.send_path;
  if (from == to) return;
  TxLane& tx = peer.tx;
  if (from != nullptr && from->open()) {
    // Make before break: the marker is the last frame on the old path.
    from->marker_due = true;
    from->marker_sent = from->marker_acked = false;
    tx.overtake_bytes = kOvertakeBytesMax;
  }
  to->marker_due = to->marker_sent = to->marker_acked = false;
  to->sent_before = tx.next_seq;
  if (tx.replay_seq < tx.replay_end) tx.replay_seq = std::max(tx.replay_seq, to->peer_next);
  peer.send_path = to;
  ++peer.generation;
  core_.sender.mark_dirty(peer);
  log(LogLevel::kInfo, "engine", "pair %s sends by %s (was %s) from number %llu on",
      peer.name().c_str(), to->slot.name().c_str(),
      from == nullptr ? "nothing" : from->slot.name().c_str(),
      static_cast<unsigned long long>(tx.next_seq));
}

// The routing takes away what the pair sends on, and has nothing else for it: what is sent from now
// on waits.
void Bml::stop_sending(Peer& peer) noexcept {
  Path& from = *peer.send_path;
  from.marker_due = true;
  from.marker_sent = from.marker_acked = false;
  peer.tx.overtake_bytes = kOvertakeBytesMax;
  peer.send_path = nullptr;
  peer.bulk_paths.clear();
  ++peer.generation;
  core_.sender.mark_dirty(peer);
  log(LogLevel::kInfo, "engine", "pair %s sends by nothing (was %s): no transport is left to it",
      peer.name().c_str(), from.slot.name().c_str());
}

void Bml::on_marker_ack(Path& path) noexcept {
  path.marker_acked = true;
  note_left_paths(*path.peer);
}

// Once no path that we have left holds anything any more, nothing can be overtaken.
void Bml::note_left_paths(Peer& peer) noexcept {
  const bool others_wait = std::any_of(peer.paths.begin(), peer.paths.end(), [](const auto& each) {
    return each->open() && (each->marker_due || each->marker_sent) && !each->marker_acked;
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
  if (peer.send_path == nullptr) return;
  const std::uint32_t exclusivity = tuned(peer.send_path->slot).first;
  const std::vector<std::string> allowed = permitted(core_.switching.in_force(), reachable(peer));
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
}

}  // namespace livebtl::core
