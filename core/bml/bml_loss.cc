// SPDX-License-Identifier: BSD-3-Clause
// core/bml/bml_loss.cc -- the BML when something ends: lost paths, lost peers, time-outs, orderly
// closing.
#include "base/log.h"
#include "core/engine/core.h"

namespace livebtl::core {

std::size_t Bml::progress_transports(std::size_t frames_max) noexcept {
  std::size_t moved = 0;
  for (auto& slot : slots_) {
    if (!slot->transport) continue;
    accepting_ = slot.get();
    moved += slot->transport->progress(*this, core_.now, frames_max);
  }
  accepting_ = nullptr;
  return moved;
}

void Bml::tidy_up() noexcept {
  if (!down_.empty()) clear_down();
  graveyard_.clear();
  if (!tickets_.empty()) flush_tickets();
  if (!greeting_.empty()) greet();
  std::vector<Peer*> wanting;
  wanting.swap(wanting_);
  for (Peer* peer : wanting) {
    peer->wants_path = false;
    peer->redials = peer->dial_after > core_.now;
    if (!peer->redials) dial_wanted(*peer);
  }
}

void Bml::greet() noexcept {
  std::vector<Path*> greeting;
  greeting.swap(greeting_);
  for (Path* path : greeting) {
    if (path->state == Path::State::kDown || gave_way(*path)) continue;
    if (path->hello_out) flush_hello(*path);
    if (!path->hello_out && path->handshake && path->handshake->open()) opened(*path);
    if (path->state != Path::State::kDown && path->hello_out) greeting_.push_back(path);
  }
}

// Takes the paths that broke out of their peers. Not during a call into a transport: their
// endpoints die here.
void Bml::clear_down() noexcept {
  std::vector<Path*> down;
  down.swap(down_);
  for (Path* path : down) {
    std::erase(greeting_, path);
    path_lost(*path);
  }
}

std::unique_ptr<Path> Bml::take_out(Path& path) noexcept {
  auto& owner = path.peer != nullptr ? path.peer->paths : strangers_;
  const auto found = std::find_if(owner.begin(), owner.end(),
                                  [&](const auto& each) { return each.get() == &path; });
  LIVEBTL_ASSERT(found != owner.end(), "a path has an owner until it is cleared away");
  std::unique_ptr<Path> taken = std::move(*found);
  owner.erase(found);
  return taken;
}

void Bml::path_lost(Path& path) noexcept {
  std::unique_ptr<Path> taken = take_out(path);
  const EndpointStats stats = path.endpoint->stats();
  path.slot.closed_stats += stats;
  // A dial that was given up for a better one ends here too: only what breaks the rules is worth a
  // warning.
  if (path.peer == nullptr && path.down_reason->code == Errc::kCorrupt)
    log_refused_stranger(path, path.down_reason->text);
  // The endpoint goes first: nothing refers to users' bytes any more when their operations
  // complete.
  path.endpoint.reset();
  if (Peer* peer = path.peer) {
    peer->closed_stats[path.slot.name()] += stats;
    std::erase(peer->bulk_paths, &path);
    if (peer->send_path == &path) {
      peer->send_path = nullptr;
      forget_failed_dials(*peer);
    }
    // The last acknowledgement may be lost, and the credit with it: a frame that acknowledges in
    // passing does not tell the credit, so that is to be told again by itself.
    peer->rx.ack_wanted = true;
    peer->rx.advertised_bytes = peer->rx.advertised_headers = 0;
    note_left_paths(*peer);  // it holds nothing any more
    if (!path.closing) path.slot.absence.doubted = true;
    if (!path.was_open) {
      dial_failed(path);
    } else if (peer->lost || peer->departed || said_goodbye_ || benign(path)) {
      core_.transfers.path_lost(*peer, path);
      if (!path.closing) peer->lost_paths[path.slot.name()] = path.id;
      if (peer->departed) lose_peer(*peer, "it ended in good order");
      elect(*peer);
    } else if (!path.keeps) {
      core_.transfers.path_lost(*peer, path);
      lose_peer(*peer, path.down_reason->text);
    } else {
      recover(*peer, path);
    }
  }
  graveyard_.push_back(std::move(taken));
}

// Never used by us, or ended after both ends had left it; or closed by order. Of a path that keeps,
// frames may still be unacknowledged then: those go again, whoever closed it.
bool Bml::benign(const Path& path) const noexcept {
  const bool used = path.sent_before != 0 || (path.keeps && path.marker.placed());
  if (!used || path.marker.both_left()) return true;
  return path.closing && (!path.keeps || path.marker.acked());
}

void Bml::dial_failed(Path& path) noexcept {
  Peer& peer = *path.peer;
  if (peer.lost) return;
  if (path.refusal == RefuseReason::kDuplicate) {
    // The other end's dial, or a path that is there, serves. Look again later, in case it does not.
    peer.dial_after = core_.now + 50 * kMillisecond;
    peer.redials = true;
    return;
  }
  log(LogLevel::kDebug, "engine", "no path to %s by %s: %s", peer.name().c_str(),
      path.slot.name().c_str(), path.down_reason->text.c_str());
  back_off(peer, path.slot.name());
}

// Unplanned loss: what was not acknowledged goes again, on what lives. The peer may not have
// noticed: the redial says which path it replaces, and any other open path carries PATH_DOWN.
void Bml::recover(Peer& peer, Path& path) noexcept {
  ++path.slot.paths_lost;
  if (path.down_reason->code == Errc::kCorrupt) ++path.slot.corrupt_frames;
  log(LogLevel::kWarn, "engine", "path to %s by %s is lost: %s; sending again from number %llu",
      peer.name().c_str(), path.slot.name().c_str(), path.down_reason->text.c_str(),
      static_cast<unsigned long long>(peer.tx.acked));
  peer.lost_paths[path.slot.name()] = path.id;
  for (auto& other : peer.paths) {
    if (other->open()) {
      other->path_down_due = path.id;
      break;
    }
  }
  // What went on later paths is theirs to deliver; all before the move from this one may be lost.
  core_.events.push({EngineEvent::Kind::kPathLost, peer.process, path.slot.name()});
  const bool was_current = peer.send_path == nullptr;
  const std::uint64_t end = was_current ? peer.tx.next_seq : peer.send_path->sent_before;
  if (path.sent_before != 0) core_.sender.replay(peer, peer.tx.acked, end);
  core_.transfers.path_lost(peer, path);
  core_.returning.note_lost(peer, path.slot);
  ++peer.generation;
  elect(peer);
  want_path(peer);
}

void Bml::on_peer_path_down(Peer& peer, std::uint64_t path_id) noexcept {
  for (auto& path : peer.paths) {
    if (path->id == path_id && path->open())
      path->break_down({Errc::kDown, "the peer says that this path is lost"});
  }
}

void Bml::close_path(Path& path) noexcept {
  path.closing = true;
  path.break_down({Errc::kCancelled, "closed by order"});
}

void Bml::lose_peer(Peer& peer, const std::string& why) noexcept {
  if (peer.lost) return;
  peer.lost = true;
  peer.lost_at = core_.now;
  if (!peer.departed) {
    log(LogLevel::kError, "engine", "%s is lost: %s", peer.name().c_str(), why.c_str());
    core_.events.push({EngineEvent::Kind::kPeerLost, peer.process, ""});
  }
  for (auto& path : peer.paths) path->break_down({Errc::kPeerLost, why});
}

// Operations that name a lost peer end after a delay, in which a launcher may act.
void Bml::fail_lost_peers() noexcept {
  const TimeNs delay = core_.config.settings.dead_ms * kMillisecond;
  for_each_peer([&](Peer& peer) {
    if (!peer.lost || peer.failed || core_.now - peer.lost_at < delay) return;
    if (!peer.paths.empty()) return;  // still being cleared away
    peer.failed = true;
    core_.sender.fail_all(peer);
    core_.transfers.fail_all(peer);
    core_.onesided.fail_all(peer);
    core_.ports.fail_directed(peer);
  });
}

namespace {

// Over a path that does not keep, an acknowledgement goes in passing, or when it is asked for:
// nobody waits for it.
bool owes_acknowledgement(const Peer& peer) noexcept {
  return peer.send_path != nullptr && peer.send_path->keeps &&
         peer.rx.ack_sent != peer.rx.reorder.expected();
}

}  // namespace

void Bml::housekeeping() noexcept {
  for (auto& stranger : strangers_) {
    if (core_.now > stranger->deadline && stranger->state != Path::State::kDown) {
      log_refused_stranger(*stranger, "it did not say a good hello in time");
      stranger->break_down({Errc::kTimeout, "no hello in time"});
    }
  }
  for_each_peer([&](Peer& peer) {
    for (auto& path : peer.paths) check_path(peer, *path);
    redial_due(peer);
    if (owes_acknowledgement(peer)) {
      peer.rx.ack_wanted = true;
      core_.sender.mark_dirty(peer);
    }
  });
  fail_lost_peers();
}

namespace {

// What we wait for: the answer to a probe or a marker, an empty buffer (the other end may be gone
// without our seeing it), acknowledgements of what went on this path, and the end of large messages
// whose data may have. What a hold keeps back is not on its way.
bool awaits_something(const Peer& peer, const Path& path, bool held) noexcept {
  if (!path.keeps) return false;
  if (path.probed != 0 || path.endpoint->in_flight() != 0) return true;
  if (path.marker.awaited()) return true;
  if (held) return false;
  // Who has something to say and nothing to say it by finds out whether anybody is there at all.
  if (peer.send_path == nullptr && peer.has_to_send()) return true;
  const bool sends = &path == peer.send_path && peer.tx.window && !peer.tx.window->empty();
  return sends || (path.marker.placed() && peer.transfers_asked != 0);
}

}  // namespace

void Bml::probe(Path& path) noexcept {
  if (path.probed != 0) return;
  path.probed = core_.now;
  path.probe_due = true;
  core_.sender.mark_dirty(*path.peer);
}

// A path with something unacknowledged, on which nothing comes for a set time, is probed, and
// closed if that is in vain.
void Bml::check_path(Peer& peer, Path& path) noexcept {
  if (path.state == Path::State::kHello && core_.now > path.deadline)
    return path.break_down({Errc::kTimeout, "no answer to the hello in time"});
  if (!path.open()) return;
  const std::uint64_t frames = path.endpoint->stats().frames_received;
  if (frames != path.heard_frames || !awaits_something(peer, path, core_.hold.parks())) {
    path.heard_frames = frames;
    path.heard = core_.now;
    path.probed = 0;
    return;
  }
  const TimeNs patience = core_.config.settings.probe_ms * kMillisecond;
  if (path.probed == 0 && core_.now - path.heard > patience) {
    probe(path);
  } else if (path.probed != 0 && core_.now - path.probed > patience) {
    path.break_down({Errc::kTimeout, "no answer to a probe"});
  }
}

bool Bml::work_pending() const noexcept {
  return std::any_of(peers_.begin(), peers_.end(), [](const auto& entry) {
    const Peer& peer = *entry.second;
    const bool dials = peer.wants_path || (peer.redials && peer.send_path == nullptr);
    return !peer.lost && (peer.has_to_send() || dials || owes_acknowledgement(peer) ||
                          (peer.tx.window && !peer.tx.window->empty()));
  });
}

bool Bml::any_open_path() const noexcept {
  return !strangers_.empty() || std::any_of(peers_.begin(), peers_.end(), [](const auto& entry) {
    return !entry.second->paths.empty();
  });
}

bool Bml::settled() const noexcept {
  return std::all_of(peers_.begin(), peers_.end(), [](const auto& entry) {
    const Peer& peer = *entry.second;
    if (peer.lost || peer.departed) return true;
    const bool posted = std::any_of(peer.paths.begin(), peer.paths.end(), [](const auto& path) {
      return path->open() && path->endpoint->in_flight() != 0;
    });
    return !peer.has_to_send() && !posted && (!peer.tx.window || peer.tx.window->empty());
  });
}

void Bml::request_acks() noexcept {
  for_each_peer([&](Peer& peer) {
    if (peer.send_path == nullptr || !peer.tx.window || peer.tx.window->empty()) return;
    peer.send_path->probe_due = true;
    core_.sender.mark_dirty(peer);
  });
}

// Who has heard it gives the pair up as soon as one of its paths ends, while our agent may still
// move this engine.
void Bml::say_goodbye() noexcept {
  said_goodbye_ = true;
  for_each_peer([&](Peer& peer) {
    for (auto& path : peer.paths) {
      if (!path->open()) continue;
      const Header<PathBody> header{
          {FrameKind::kGoodbye, 0, 0, 0, 0, 0, peer.rx.reorder.expected()}, {path->id, 0}};
      (void)path->endpoint->post(
          {bytes_of(header), {}, 0, false});  // busy: the peer learns it from the closing
    }
  });
}

void Bml::shut_down() noexcept {
  greeting_.clear();
  tickets_.clear();
  down_.clear();
  strangers_.clear();
  graveyard_.clear();
  for_each_peer([](Peer& peer) {
    peer.send_path = nullptr;
    peer.bulk_paths.clear();
    peer.paths.clear();
  });
  slots_.clear();
}

}  // namespace livebtl::core
