// SPDX-License-Identifier: BSD-3-Clause
// core/bml/dialler.cc -- see dialler.h.
#include "core/bml/dialler.h"

#include "base/log.h"
#include "core/bml/connector.h"
#include "core/bml/elector.h"
#include "core/bml/losses.h"
#include "core/bml/peers.h"
#include "core/bml/slots.h"
#include "core/bml/tickets.h"
#include "core/bml/unreached.h"
#include "core/engine/context.h"
#include "core/switch/hold.h"
#include "core/switch/returning.h"
#include "core/switch/switching.h"

namespace livebtl::core {
namespace {

/// How long a rung lets the other end of a pair dial first: long enough for that end to get the
/// order even where many members share a processor. Both ends of a connected pair dial; two
/// connections cost twice as much, and one of them is closed again.
constexpr TimeNs kYield = 20 * kMillisecond;
/// When to look again if nothing can be dialled. Whatever changes that calls Dials::forget().
constexpr TimeNs kLookAgain = kSecond;

/// Dialled, but not open yet.
bool dialling(const Peer& peer, std::string_view transport) noexcept {
  return std::ranges::any_of(peer.paths, [&](const auto& path) {
    return path->being_dialled() && path->slot.name() == transport;
  });
}

}  // namespace

void Dialler::want_path(Peer& peer) noexcept {
  if (peer.wants_path || peer.lost) return;
  peer.wants_path = true;
  parts_.peers.meet(peer);
  wanting_.push_back(&peer);
}

void Dialler::turn() noexcept {
  std::vector<Peer*> wanting;
  wanting.swap(wanting_);
  for (Peer* peer : wanting) {
    peer->wants_path = false;
    peer->dials.again = peer->dials.after > context_.now;
    if (!peer->dials.again) dial_wanted(*peer);
  }
}

bool Dialler::dial(Peer& peer, TransportSlot& slot) {
  const bool own = peer.process == context_.config.process;
  const Blob address = own ? slot.transport->address() : peer.addresses[slot.name()];
  const bool can_dial = parts_.tickets.can_dial(peer, slot);
  auto endpoint =
      can_dial ? slot.transport->connect(address)
               : fail(Errc::kUnreachable, "it connects only over a path of another transport");
  if (!endpoint) {
    log(LogLevel::kInfo, "engine", "cannot dial %s by %s: %s", peer.name().c_str(),
        slot.name().c_str(), endpoint.error().text.c_str());
    if (can_dial) note_in_vain(peer, slot.name(), endpoint.error());
    slot.absence.doubted = true;
    back_off(peer, slot.name());
    return false;
  }
  Path& path = parts_.connector.begin(peer, slot, std::move(*endpoint));
  if (slot.caps.by_ticket) parts_.tickets.exchange(path);
  return true;
}

void Dialler::on_failed(Path& path) noexcept {
  Peer& peer = *path.peer;
  if (peer.lost) return;
  if (path.refusal == RefuseReason::kDuplicate) {
    // The other end's dial or an existing path serves. Look again later, in case it does not.
    peer.dials.after = context_.now + 50 * kMillisecond;
    peer.dials.again = true;
    return;
  }
  log(LogLevel::kDebug, "engine", "no path to %s by %s: %s", peer.name().c_str(),
      path.slot.name().c_str(), path.down_reason->text.c_str());
  note_in_vain(peer, path.slot.name(), *path.down_reason);
  // Another process now has that address: only the control plane knows where this peer listens.
  if (path.refusal == RefuseReason::kNotMe)
    peer.dials.delay = std::max(peer.dials.delay, kDialledInVain);
  back_off(peer, path.slot.name());
}

void Dialler::note_in_vain(Peer& peer, const std::string& transport, const Error& error) noexcept {
  Dials& dials = peer.dials;
  if (peer.send_path != nullptr || dials.in_vain_told) return;
  if (dials.in_vain_since == 0) dials.in_vain_since = context_.now;
  if (context_.now - dials.in_vain_since < kInVainTold) return;
  if (!in_vain_logged_.allow(context_.now)) return;
  dials.in_vain_told = true;
  log(LogLevel::kWarn, "engine",
      "no path to %s yet: %s: %s; messages to it wait, it is tried again", peer.name().c_str(),
      transport.c_str(), error.text.c_str());
}

void Dialler::back_off(Peer& peer, const std::string& transport) noexcept {
  TimeNs& delay = peer.dials.delay;
  delay = std::clamp(delay * 2, kMillisecond, served(peer) ? kRedialServed : kRedialUnserved);
  peer.dials.failed_until[transport] = context_.now + delay;
  if (delay >= kDialledInVain && peer.send_path == nullptr) parts_.unreached.seek(peer);
  // Two ends that dial each other must not do so in step.
  peer.dials.after = context_.now + delay / 2 +
                     static_cast<TimeNs>(context_.random.below(static_cast<std::uint64_t>(delay)));
  peer.dials.again = true;
}

bool Dialler::served(const Peer& peer) const noexcept {
  return peer.send_path != nullptr && !parts_.switching.at_work();
}

// in: what is missing failed lately, or cannot be dialled. out: the peer is looked at again when
// that may change. This is no work: a pair that has a path need not be kept awake for it.
void Dialler::redial(Peer& peer) noexcept {
  TimeNs first = 0;
  const auto consider = [&](TimeNs until) {
    if (until > context_.now && (first == 0 || until < first)) first = until;
  };
  for (const auto& [transport, until] : peer.dials.failed_until) consider(until);
  for (const auto& [transport, until] : peer.dials.yields_until) consider(until);
  for (const auto& [transport, settle] : peer.returns)
    consider(parts_.returning.settles_until(peer, transport));
  peer.dials.after = std::max(peer.dials.after, first);
  if (first == 0) peer.dials.look_at = context_.now + kLookAgain;
  peer.dials.again = true;
}

void Dialler::keep_time(Peer& peer) noexcept {
  if (peer.dials.again && due_at(peer) <= context_.now) want_path(peer);
}

TimeNs Dialler::due_at(const Peer& peer) const noexcept {
  if (!peer.dials.again || peer.lost || parts_.hold.parks()) return kNoDeadline;
  return std::max(peer.dials.after, peer.dials.look_at);
}

void Dialler::forget_failed_dials() noexcept {
  parts_.peers.for_each_met([](Peer& peer) { peer.dials.forget(); });
}

// In order of preference. An address has room for few contacts. A quiesced transport takes no
// traffic, but its hello tells what else the peer reaches, and its path can carry tickets.
std::vector<std::string> Dialler::to_dial(const Peer& peer) const {
  const RoutingView routing = parts_.peers.view(peer, parts_.switching.in_force());
  const Candidates candidates = parts_.peers.reachable(peer);
  const auto not_now = [&](const std::string& name) {
    const TransportSlot* slot = parts_.slots.find(name);
    return slot != nullptr && !parts_.tickets.can_dial(peer, *slot);
  };
  std::vector<std::string> order = permitted(routing, candidates);
  std::erase_if(order, not_now);
  if (order.empty()) {
    order = connectable(routing, candidates);
    std::erase_if(order, not_now);
  }
  return order;
}

void Dialler::dial_wanted(Peer& peer) noexcept {
  if (peer.lost || peer.departed || stopped_) return;
  if (parts_.hold.parks()) {
    peer.dials.again = true;  // lost paths are still missing after the hold
    return;
  }
  if (!peer.fatal_refusal.empty()) return parts_.losses.lose_peer(peer, peer.fatal_refusal);
  const std::vector<std::string> order = to_dial(peer);
  // Connected over a quiesced transport, but no permitted one reaches it: others must tell how.
  const bool met =
      peer.connected() &&
      permitted(parts_.peers.view(peer, parts_.switching.in_force()), parts_.peers.reachable(peer))
          .empty();
  if (order.empty() || met)
    parts_.unreached.note_cut_off(peer);
  else
    peer.cut_off_since = 0;
  if (met) return redial(peer);
  bool failed = false;  // a transport preferred to the current one
  for (const std::string& name : order) {
    if (parts_.elector.open_path(peer, name) != nullptr) {
      if (failed) redial(peer);  // it may be there later
      return dial_equals(peer);
    }
    if (dialling(peer, name)) return;
    if (!not_yet(peer, name) && dial(peer, *parts_.slots.find(name))) return;
    failed = true;
  }
  redial(peer);  // all failed lately, or none is permitted now
}

void Dialler::dial_equals(Peer& peer) {
  for (const std::string& name : parts_.elector.missing_equals(peer)) {
    if (dialling(peer, name)) continue;
    if (not_yet(peer, name) || !dial(peer, *parts_.slots.find(name))) redial(peer);
  }
}

namespace {

bool runs(const std::map<std::string, TimeNs>& until, const std::string& transport, TimeNs now) {
  const auto found = until.find(transport);
  return found != until.end() && found->second > now;
}

}  // namespace

bool Dialler::not_yet(const Peer& peer, const std::string& transport) const {
  return runs(peer.dials.failed_until, transport, context_.now) ||
         runs(peer.dials.yields_until, transport, context_.now) ||
         parts_.returning.settles_until(peer, transport) != 0;
}

void Dialler::open_early(Peer& peer, const std::string& transport) noexcept {
  if (dialling(peer, transport)) return;
  Dials& dials = peer.dials;
  if (runs(dials.failed_until, transport, context_.now) ||
      runs(dials.yields_until, transport, context_.now))
    return;
  const bool first_try =
      !dials.failed_until.contains(transport) && !dials.yields_until.contains(transport);
  if (first_try && context_.config.process > peer.process) {
    dials.yields_until[transport] = context_.now + kYield;
    return;
  }
  TransportSlot* slot = parts_.slots.find(transport);
  if (slot != nullptr && slot->open()) dial(peer, *slot);
}

}  // namespace livebtl::core
