// SPDX-License-Identifier: BSD-3-Clause
// core/bml/peers.cc -- see peers.h.
#include "core/bml/peers.h"

#include "base/assert.h"
#include "core/bml/slots.h"
#include "core/engine/context.h"
#include "core/path/address.h"
#include "core/path/handshake.h"

namespace livebtl::core {

Peer& Peers::record(ProcessId process) {
  if (Peer* known = find(process)) return *known;
  auto& record = peers_[static_cast<std::uint64_t>(process)];
  record = std::make_unique<Peer>(process, context_.config.first_seq);
  record->rx.tell_by_quarters(context_.config.settings);
  return *record;
}

Peer* Peers::find(ProcessId process) noexcept {
  for (const Records* records : {&peers_, &ended_}) {
    const auto found = records->find(static_cast<std::uint64_t>(process));
    if (found != records->end()) return found->second.get();
  }
  return nullptr;
}

// in: no frame to or from the peer will move again; its messages may still await a receive. out:
// its window, early frames and path state are gone. What its address is made of stays, and so does
// what status() reports of the dead.
void Peers::retire(Peer& peer) noexcept {
  LIVEBTL_ASSERT(peer.failed && peer.paths.empty(), "only what has ended is retired");
  auto record = peers_.extract(static_cast<std::uint64_t>(peer.process));
  LIVEBTL_ASSERT(record, "a peer is retired once");
  ended_frames_taken_ += frames_taken_of(peer);
  peer.tx.window.reset();
  peer.rx.reorder.drop_early();
  peer.dials.on_open();
  peer.returns.clear();
  peer.lost_paths.clear();
  peer.sending = {};
  peer.bulk_paths = {};
  peer.fatal_refusal = {};
  std::erase(met_, &peer);
  ended_.insert(std::move(record));
}

Result<Destination> Peers::resolve(const Address& address) {
  const auto parts = decode_address(address);
  if (!parts) return tl::unexpected(parts.error());
  Peer& record = this->record(parts->process);
  for (const auto& kind : context_.config.kinds) {
    const auto contact = parts->contacts.find(name_hash(kind.name));
    // An address from a hello is whole and newer.
    if (contact == parts->contacts.end() || record.addresses.contains(kind.name)) continue;
    learn(record, kind.name, contact->second);
    record.dials.forget();
  }
  return Destination{&record, parts->port};
}

Address Peers::address_of(ProcessId process, PortNumber port,
                          const std::map<std::string, Blob>& addresses) const {
  if (process == context_.config.process) return slots_.own_address(port);
  std::vector<std::pair<std::string, Blob>> contacts;
  for (const TransportSlot* slot : slots_.contacted()) {
    const auto known = addresses.find(slot->name());
    if (known != addresses.end()) contacts.emplace_back(*known);
  }
  for (const auto& each : addresses) {  // of transports that are closed here
    const TransportSlot* slot = slots_.find(each.first);
    const bool open = slot != nullptr && slot->in_service();
    if (!open && each.first != kRelayAddress) contacts.emplace_back(each);
  }
  return encode_address(process, port, contacts);
}

std::optional<std::uint32_t> Peers::cost_to(const Peer& peer, const TransportSlot& slot) const {
  if (!slot.in_service()) return std::nullopt;
  const auto at = [&](Bytes address) -> std::optional<std::uint32_t> {
    if (!slot.transport->reaches(address)) return std::nullopt;
    return slot.transport->cost(address);
  };
  if (peer.process == context_.config.process) return at(slot.transport->address());
  const auto address = peer.addresses.find(slot.name());
  return address == peer.addresses.end() ? std::nullopt : at(address->second);
}

Candidates Peers::reachable(const Peer& peer) const {
  Candidates candidates;
  for (const auto& slot : slots_.all()) {
    if (const auto cost = cost_to(peer, *slot))
      candidates.add({slot->name(), slot->caps.exclusivity, *cost});
  }
  return candidates;
}

bool Peers::any_permitted(const Peer& peer, const Routing& routing) const {
  const RoutingView rules = view(peer, routing);
  return std::ranges::any_of(slots_.all(), [&](const auto& slot) {
    return rules.leaves(slot->name()) && cost_to(peer, *slot).has_value();
  });
}

std::string Peers::choice(const Peer& peer, const Routing& routing) const {
  return choose(view(peer, routing), reachable(peer)).value_or("");
}

RoutingView Peers::view(const Peer& peer, const Routing& routing) const {
  const bool own = peer.process == context_.config.process;
  return {routing, context_.node, own ? "" : std::string_view(peer.node)};
}

void Peers::take_addresses(Peer& peer, const std::vector<TransportAddress>& told) {
  peer.addresses.clear();
  for (const auto& [transport, address] : told) learn(peer, transport, address);
  std::erase_if(peer.returns,
                [&](const auto& lost) { return !peer.addresses.contains(lost.first); });
}

void Peers::learn(Peer& peer, const std::string& transport, const Blob& address) {
  peer.addresses[transport] = address;
  if (TransportSlot* const slot = slots_.find(transport)) slots_.expect(*slot, address);
}

void Peers::remember(Peer& record, const HelloFacts& theirs) noexcept {
  record.label = theirs.label;
  record.node = node_name(theirs.node);
  take_addresses(record, theirs.addresses);
  record.tx.credit_bytes = theirs.credit_bytes;
  record.tx.credit_headers = theirs.credit_headers;
  record.tx.lease.end();  // it was measured by the credit that the peer gave before
  const bool news = theirs.node != context_.config.node && !spans_nodes_.exchange(true);
  if (news) context_.notify_control();  // the agent has something to do
}

std::vector<std::string> Peers::relays() const {
  std::set<std::string> found(learnt_relays_.begin(), learnt_relays_.end());
  for (const auto& [id, peer] : peers_) {
    const auto address = peer->addresses.find(kRelayAddress);
    if (peer->lost || address == peer->addresses.end() || address->second.size() > kRelayBytesMax)
      continue;
    found.emplace(reinterpret_cast<const char*>(address->second.data()), address->second.size());
  }
  return {found.begin(), found.end()};
}

void Peers::learn_relays(const std::vector<std::string>& relays) {
  if (!relays.empty()) learnt_relays_.clear();
  for (const std::string& relay : relays) {
    if (relay.size() <= kRelayBytesMax && learnt_relays_.size() < kLearntRelaysMax)
      learnt_relays_.push_back(relay);
  }
}

std::uint64_t Peers::frames_taken() const noexcept {
  std::uint64_t taken = ended_frames_taken_;
  for (const auto& [id, peer] : peers_) taken += frames_taken_of(*peer);
  return taken;
}

std::uint64_t Peers::frames_taken_of(const Peer& peer) const noexcept {
  return peer.rx.reorder.expected() - context_.config.first_seq;
}

bool Peers::work_pending() const noexcept {
  return std::any_of(peers_.begin(), peers_.end(), [](const auto& entry) {
    const Peer& peer = *entry.second;
    const bool dials = peer.wants_path || (peer.dials.again && peer.send_path == nullptr);
    return !peer.lost && (peer.has_to_send() || dials || peer.owes_acknowledgement() ||
                          (peer.tx.window && !peer.tx.window->empty()));
  });
}

bool Peers::any_path() const noexcept {
  return std::any_of(peers_.begin(), peers_.end(),
                     [](const auto& entry) { return !entry.second->paths.empty(); });
}

bool Peers::settled() const noexcept {
  return std::all_of(peers_.begin(), peers_.end(),
                     [](const auto& entry) { return settled(*entry.second); });
}

bool Peers::settled(const Peer& peer) noexcept {
  if (peer.lost || peer.departed) return true;
  const bool posted = std::any_of(peer.paths.begin(), peer.paths.end(), [](const auto& path) {
    return path->open() && path->endpoint->in_flight() > path->given_up_posted;
  });
  return !peer.has_to_send() && !posted && (!peer.tx.window || peer.tx.window->empty());
}

}  // namespace livebtl::core
