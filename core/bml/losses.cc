// SPDX-License-Identifier: BSD-3-Clause
// core/bml/losses.cc -- see losses.h.
#include "core/bml/losses.h"

#include "base/assert.h"
#include "base/log.h"
#include "core/bml/connector.h"
#include "core/bml/dialler.h"
#include "core/bml/elector.h"
#include "core/bml/peers.h"
#include "core/engine/context.h"
#include "core/lane/boxes.h"
#include "core/lane/onesided.h"
#include "core/lane/port_state.h"
#include "core/lane/rendezvous.h"
#include "core/lane/send.h"
#include "core/switch/returning.h"

namespace livebtl::core {

namespace {
constexpr std::size_t kLossesKept = 16;
}  // namespace

void Losses::turn() noexcept {
  std::vector<Path*> broken;
  broken.swap(broken_);
  for (Path* path : broken) path_lost(*path);
  ended_.clear();
}

void Losses::path_lost(Path& path) noexcept {
  std::unique_ptr<Path> taken = parts_.connector.release(path);
  if (!taken && path.peer != nullptr) taken = take_out(path.peer->paths, path);
  LIVEBTL_ASSERT(taken, "a path has an owner until it is cleared away");
  const EndpointStats stats = stats_of(path);
  path.slot.closed_stats += stats;
  // A dial that gave way to another also ends here: only a breach of the protocol deserves a
  // warning.
  if (path.peer == nullptr && path.down_reason->code == Errc::kCorrupt)
    parts_.connector.log_refused(path, path.down_reason->text);
  // The endpoint goes first, so that nothing refers to users' bytes when their operations complete.
  path.endpoint.reset();
  if (path.peer != nullptr) {
    path.peer->closed_stats[path.slot.name()] += stats;
    peer_path_lost(*path.peer, path);
  }
  ended_.push_back(std::move(taken));
}

// in: a path taken from the peer. out: the pair goes on over the paths left, or the peer is lost.
void Losses::peer_path_lost(Peer& peer, Path& path) noexcept {
  std::erase(peer.bulk_paths, &path);
  if (peer.send_path == &path) {
    peer.send_path = nullptr;
    peer.tx.lease.end();
    peer.dials.forget();
  }
  // The last acknowledgement may be lost, and the credit with it. A frame that acknowledges in
  // passing carries no credit, so the credit must be sent again on its own.
  if (!path.told_for_sure()) {
    peer.rx.ack_wanted = true;
    peer.rx.advertised_bytes = peer.rx.advertised_headers = 0;
    peer.rx.on_credit_asked();
  }
  parts_.sender.mark_dirty(peer);
  if (!path.closing) path.slot.absence.doubted = true;
  if (!path.was_open) {
    parts_.dialler.on_failed(path);
  } else if (peer.lost || peer.departed || said_goodbye_ || benign(path)) {
    parts_.transfers.path_lost(peer, path);
    if (!path.closing) peer.lost_paths[path.slot.name()] = path.id;
    // Missing frames may still come over another path.
    if (peer.left_well() || (peer.departed && !peer.connected())) lose_peer(peer, "it has ended");
    parts_.elector.elect(peer);
    // The peer may have ended and its goodbye be lost: a dial leads to a path, or to proof of that.
    const bool lives = !peer.lost && !peer.departed && !said_goodbye_;
    if (lives && !path.closing && !peer.connected()) parts_.dialler.want_path(peer);
  } else if (!path.keeps) {
    parts_.transfers.path_lost(peer, path);
    lose_peer(peer, path.down_reason->text);
  } else {
    recover(peer, path);
  }
}

// We never used the path, or both ends had left it, or it was closed by order. A path that keeps
// may still have unacknowledged frames then: they are sent again, whichever end closed it.
bool Losses::benign(const Path& path) const noexcept {
  const bool used = path.send_path_since != 0 || (path.keeps && path.marker.placed());
  // A path that the ordered lane has left may still carry data of large messages.
  const bool proved = path.marker.acked() && !(path.keeps && path.marker.placed());
  if (!used || (proved && path.marker.peer_left())) return true;
  return path.closing && (!path.keeps || proved);
}

// Unplanned loss: unacknowledged frames are sent again, over live paths. The peer may not have
// noticed: the redial names the path that it replaces, and all other paths carry PATH_DOWN, since
// any of them may be lost next. So do those that open later, until this one is replaced.
void Losses::recover(Peer& peer, Path& path) noexcept {
  ++path.slot.paths_lost;
  note(peer, path.slot.name(), path.down_reason->text);
  if (path.down_reason->code == Errc::kCorrupt) ++path.slot.corrupt_frames;
  log(LogLevel::kWarn, "engine", "path to %s by %s is lost: %s; sending again from number %llu",
      peer.name().c_str(), path.slot.name().c_str(), path.down_reason->text.c_str(),
      static_cast<unsigned long long>(peer.tx.acked));
  peer.lost_paths[path.slot.name()] = path.id;
  for (auto& other : peer.paths) other->losses_due = true;
  // Later paths deliver what was sent on them; all frames before the move off this one may be lost.
  context_.events.push({EngineEvent::Kind::kPathLost, peer.process, path.slot.name()});
  const bool was_current = peer.send_path == nullptr;
  const std::uint64_t end = was_current ? peer.tx.next_seq : peer.send_path->send_path_since;
  if (path.send_path_since != 0) parts_.sender.replay(peer, peer.tx.acked, end);
  parts_.transfers.path_lost(peer, path);
  parts_.returning.note_lost(peer, path.slot);
  ++peer.generation;
  parts_.elector.elect(peer);
  parts_.dialler.want_path(peer);
}

void Losses::note(const Peer& peer, const std::string& transport, const std::string& why) {
  ++total_;
  if (last_.size() == kLossesKept) last_.pop_front();
  last_.push_back({context_.now, peer.process, transport, why});
}

void Losses::close_transport(TransportSlot& slot) noexcept {
  if (!slot.open()) return;
  parts_.peers.for_each([&](Peer& peer) {
    for (auto& path : peer.paths) {
      if (&path->slot == &slot && !path->down()) path->close();
    }
  });
  parts_.connector.close_unauthenticated(&slot, "the transport is being closed");
  turn();
  slot.pace = nullptr;
  slot.transport.reset();
  log(LogLevel::kInfo, "engine", "transport=%s closed", slot.name().c_str());
}

// Paths that do not keep connect processes of one machine, which were restored together.
void Losses::close_connections() noexcept {
  close_unopened();
  parts_.peers.for_each([&](Peer& peer) {
    if (peer.process == context_.config.process) return;
    for (auto& path : peer.paths) {
      if (!path->keeps) continue;
      // Reopened after the hold, even with nothing to send: else the peer's end could go unnoticed.
      peer.dials.again = peer.dials.again || path->open();
      path->close();
    }
    peer.dials.forget();
  });
}

void Losses::close_unopened() noexcept {
  parts_.connector.close_unauthenticated(nullptr, "closed by order");
  parts_.peers.for_each([&](Peer& peer) {
    for (auto& path : peer.paths) {
      if (!path->open()) path->close();
    }
  });
}

void Losses::on_peer_path_down(Peer& peer, std::uint64_t path_id) noexcept {
  for (auto& path : peer.paths) {
    if (path->id == path_id && path->open())
      path->break_down({Errc::kDown, "the peer says that this path is lost"});
  }
}

void Losses::lose_peer(Peer& peer, const std::string& why) noexcept {
  if (peer.lost) return;
  peer.lost = true;
  parts_.peers.meet(peer);
  peer.lost_at = context_.now;
  if (!peer.left_well()) {
    const std::uint64_t missing = peer.frames_missing();
    log(LogLevel::kError, "engine", "%s is lost: %s%s", peer.name().c_str(), why.c_str(),
        missing == 0
            ? ""
            : (", and " + std::to_string(missing) + " of its frames never arrived").c_str());
    note(peer, "", why);
    context_.events.push({EngineEvent::Kind::kPeerLost, peer.process, ""});
  }
  for (auto& path : peer.paths) path->break_down({Errc::kPeerLost, why});
}

void Losses::keep_time() noexcept {
  std::vector<Peer*> ended;
  parts_.peers.for_each_met([&](Peer& peer) {
    if (fails_at(peer) <= context_.now) ended.push_back(&peer);
  });
  for (Peer* peer : ended) {
    fail(*peer);
    parts_.peers.retire(*peer);
  }
}

// kNoDeadline until its paths have been cleared away.
TimeNs Losses::fails_at(const Peer& peer) const noexcept {
  if (!peer.lost || !peer.paths.empty()) return kNoDeadline;
  return peer.lost_at + context_.config.settings.dead_ms * kMillisecond;
}

TimeNs Losses::due_at() const noexcept {
  TimeNs due = kNoDeadline;
  parts_.peers.for_each_met([&](const Peer& peer) { due = std::min(due, fails_at(peer)); });
  return due;
}

void Losses::fail(Peer& peer) noexcept {
  peer.failed = true;
  parts_.sender.fail_all(peer);
  parts_.transfers.fail_all(peer);
  parts_.onesided.fail_all(peer);
  parts_.ports.fail_directed(peer);
}

// A peer that has received the goodbye gives the pair up as soon as one of its paths ends, while
// our agent may still move this engine.
bool Losses::say_goodbye() noexcept {
  said_goodbye_ = true;
  parts_.dialler.stop();
  bool said = true;
  parts_.peers.for_each([&](Peer& peer) {
    for (auto& path : peer.paths) {
      if (!path->open() || path->said_goodbye) continue;
      const Header<PathBody> header{
          {FrameKind::kGoodbye, 0, 0, 0, 0, 0, peer.rx.reorder.expected()},
          {path->id, peer.tx.end()}};
      path->said_goodbye = path->endpoint->post({bytes_of(header), {}, 0, false}) != Post::kRetry;
      said = said && path->said_goodbye;
    }
  });
  return said;
}

void Losses::clear() noexcept {
  broken_.clear();
  ended_.clear();
  parts_.peers.for_each([](Peer& peer) {
    peer.send_path = nullptr;
    peer.bulk_paths.clear();
    peer.paths.clear();
  });
}

}  // namespace livebtl::core
