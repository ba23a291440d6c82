// SPDX-License-Identifier: BSD-3-Clause
// core/bml/bml_dial.cc -- the BML's dials: which paths are missing, in what order they are tried, and
// how long one that failed is left alone. Under the engine's lock.
#include "base/log.h"
#include "core/engine/core.h"

namespace livebtl::core {

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

void Bml::want_path(Peer& peer) noexcept {
  if (peer.wants_path || peer.lost) return;
  peer.wants_path = true;
  wanting_.push_back(&peer);
}

bool Bml::dial(Peer& peer, TransportSlot& slot) {
  const bool own = peer.process == core_.config.process;
  const Blob address = own ? slot.transport->address() : peer.addresses[slot.name()];
  auto endpoint = can_dial(peer, slot)
                      ? slot.transport->connect(address)
                      : fail(Errc::kUnreachable, "it connects only over a path of another one");
  if (!endpoint) {
    log(LogLevel::kInfo, "engine", "cannot dial %s by %s: %s", peer.name().c_str(),
        slot.name().c_str(), endpoint.error().text.c_str());
    slot.absence.doubted = true;
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
  if (slot.caps.by_ticket) exchange_tickets(*peer.paths.back());
  return true;
}

void Bml::back_off(Peer& peer, const std::string& transport) noexcept {
  TimeNs& delay = peer.dial_delay;
  delay = std::clamp(delay * 2, kMillisecond, served(peer) ? kRedialServed : kRedialUnserved);
  peer.failed_until[transport] = core_.now + delay;
  if (delay >= kDialledInVain && peer.send_path == nullptr) seek(peer);
  // Two ends that dial each other must not do so in step.
  peer.dial_after = core_.now + delay / 2 +
                    static_cast<TimeNs>(core_.random.below(static_cast<std::uint64_t>(delay)));
  peer.redials = true;
}

// What is missing is only a better path, and no order waits for it.
bool Bml::served(const Peer& peer) const noexcept {
  return peer.send_path != nullptr && !core_.switching.at_work();
}

// in: what is missing failed lately, or cannot be dialled. out: it is looked at again then. That is
// no work: who has a path need not be kept awake for it.
void Bml::redial(Peer& peer) noexcept {
  TimeNs first = 0;
  for (const auto& [transport, until] : peer.failed_until) {
    if (until > core_.now && (first == 0 || until < first)) first = until;
  }
  for (const auto& [transport, settle] : peer.returns) {
    const TimeNs until = core_.returning.settles_until(peer, transport);
    if (until != 0 && (first == 0 || until < first)) first = until;
  }
  peer.dial_after = std::max(peer.dial_after, first);
  peer.redials = true;
}

void Bml::redial_due(Peer& peer) noexcept {
  if (peer.redials && peer.dial_after <= core_.now) want_path(peer);
}

void Bml::forget_failed_dials(Peer& peer) noexcept {
  peer.failed_until.clear();
  peer.dial_delay = peer.dial_after = 0;
}

void Bml::forget_failed_dials() noexcept {
  for_each_peer([](Peer& peer) { forget_failed_dials(peer); });
}

// What could share bulk data with the path that the pair sends on, and has no path yet.
std::vector<std::string> Bml::missing_equals(Peer& peer) {
  std::vector<std::string> missing;
  if (peer.send_path == nullptr || peer.process == core_.config.process) return missing;
  const std::uint32_t exclusivity = tuned(peer.send_path->slot).first;
  for (const std::string& name :
       permitted(view(peer, core_.switching.in_force()), reachable(peer))) {
    const TransportSlot* slot = find_slot(name);
    if (slot != nullptr && tuned(*slot).first == exclusivity && open_path(peer, name) == nullptr)
      missing.push_back(name);
  }
  return missing;
}

// In order of preference. An address has room for few contacts. Over a quiesced transport no
// traffic goes, but the hello tells what else the peer reaches, and tickets go over it.
std::vector<std::string> Bml::to_dial(const Peer& peer) const {
  const RoutingView routing = view(peer, core_.switching.in_force());
  const std::vector<Candidate> candidates = reachable(peer);
  const auto not_now = [&](const std::string& name) {
    return std::any_of(slots_.begin(), slots_.end(), [&](const auto& slot) {
      return slot->name() == name && !can_dial(peer, *slot);
    });
  };
  std::vector<std::string> order = permitted(routing, candidates);
  std::erase_if(order, not_now);
  if (order.empty()) {
    order = connectable(routing, candidates);
    std::erase_if(order, not_now);
  }
  return order;
}

void Bml::dial_wanted(Peer& peer) noexcept {
  if (peer.lost || peer.departed || said_goodbye_ || core_.hold.parks()) return;
  if (!peer.fatal_refusal.empty()) return lose_peer(peer, peer.fatal_refusal);
  const std::vector<std::string> order = to_dial(peer);
  // It said hello over what is quiesced, and that led nowhere: somebody else must tell.
  const bool met =
      connected(peer) && permitted(view(peer, core_.switching.in_force()), reachable(peer)).empty();
  if (order.empty() || met)
    note_cut_off(peer);
  else
    peer.cut_off_since = 0;
  if (met) return redial(peer);
  bool failed = false;  // something better than what is looked at
  for (const std::string& name : order) {
    if (open_path(peer, name) != nullptr) {
      if (failed) redial(peer);  // it may be there later
      return dial_equals(peer);
    }
    if (dialling(peer, name)) return;
    if (!failed_lately(peer, name) && dial(peer, *find_slot(name))) return;
    failed = true;
  }
  redial(peer);  // all failed lately, or none is permitted now
}

void Bml::dial_equals(Peer& peer) {
  for (const std::string& name : missing_equals(peer)) {
    if (dialling(peer, name)) continue;
    if (failed_lately(peer, name) || !dial(peer, *find_slot(name))) redial(peer);
  }
}

bool Bml::failed_lately(const Peer& peer, const std::string& transport) const {
  const auto failed = peer.failed_until.find(transport);
  return (failed != peer.failed_until.end() && failed->second > core_.now) ||
         core_.returning.settles_until(peer, transport) != 0;
}

}  // namespace livebtl::core
