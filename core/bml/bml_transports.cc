// SPDX-License-Identifier: BSD-3-Clause
// core/bml/bml_transports.cc -- the BML's transports and peers: opening, closing, addresses, who is
// reached by what.
#include <set>

#include "base/assert.h"
#include "base/hex.h"
#include "base/log.h"
#include "core/engine/core.h"
#include "core/path/address.h"

namespace livebtl::core {

Bml::~Bml() { shut_down(); }

void Bml::add_kinds() {
  for (const TransportKind& kind : core_.config.kinds) {
    slots_.push_back(std::make_unique<TransportSlot>());
    slots_.back()->kind = kind;
    slots_.back()->held = Holdings(kind.devices);
    slots_.back()->caps.exclusivity = kind.exclusivity;
    slots_.back()->caps.bandwidth_mbps = kind.bandwidth_mbps;
  }
}

TransportSlot* Bml::find_slot(std::string_view name) noexcept {
  for (auto& slot : slots_) {
    if (slot->name() == name) return slot.get();
  }
  return nullptr;
}

// A frame that was kept for one transport must fit the next.
Status Bml::check_caps(const std::string& name, const Caps& caps) const {
  const auto too_small = [](const std::string& who, std::uint32_t has, std::uint32_t needs,
                            const std::string& why) {
    return fail(Errc::kInvalid, "transport '" + who + "' carries at most " + std::to_string(has) +
                                    " bytes of payload in a frame; " + std::to_string(needs) +
                                    " are needed: " + why);
  };
  if (caps.payload_bytes_max < kPayloadBytesMin)
    return too_small(name, caps.payload_bytes_max, kPayloadBytesMin,
                     "what is not cut into pieces must fit");
  if (caps.payload_bytes_max < caps.eager_bytes_max)
    return too_small(name, caps.payload_bytes_max, caps.eager_bytes_max, "its own eager messages");
  for (const auto& other : slots_) {
    if (other->caps.payload_bytes_max == 0) continue;  // never open yet
    if (caps.payload_bytes_max < other->caps.eager_bytes_max)
      return too_small(name, caps.payload_bytes_max, other->caps.eager_bytes_max,
                       "the eager messages of '" + other->name() + "'");
    if (other->caps.payload_bytes_max < caps.eager_bytes_max)
      return too_small(other->name(), other->caps.payload_bytes_max, caps.eager_bytes_max,
                       "the eager messages of '" + name + "'");
  }
  return {};
}

Status Bml::open_transport(const std::string& name) {
  TransportSlot* slot = find_slot(name);
  if (slot == nullptr)
    return fail(Errc::kNotFound,
                "there is no transport '" + name + "' in this build or in LIVEBTL_TRANSPORTS");
  if (slot->open()) return {};
  NodeFacts facts;
  facts.process = core_.config.process;
  facts.node = core_.config.node;
  facts.job_directory = core_.config.job_directory;
  facts.settings = &core_.config.settings;
  facts.previous_address = slot->last_address;
  auto made = slot->kind.make(facts);
  if (!made) return tl::unexpected(made.error());
  if (Status fits = check_caps(name, (*made)->caps()); !fits) return fits;
  slot->transport = std::move(*made);
  slot->caps = slot->transport->caps();
  slot->last_address = slot->transport->address();
  log(LogLevel::kInfo, "engine", "transport=%s opened", name.c_str());
  return {};
}

void Bml::close_transport(const std::string& name) noexcept {
  TransportSlot* slot = find_slot(name);
  if (slot == nullptr || !slot->open()) return;
  for_each_peer([&](Peer& peer) {
    for (auto& path : peer.paths) {
      if (&path->slot == slot && path->state != Path::State::kDown) close_path(*path);
    }
  });
  for (auto& stranger : strangers_) {
    if (&stranger->slot == slot)
      stranger->break_down({Errc::kCancelled, "the transport is being closed"});
  }
  clear_down();
  graveyard_.clear();
  slot->transport.reset();
  log(LogLevel::kInfo, "engine", "transport=%s closed", name.c_str());
}

std::vector<TransportAddress> Bml::own_addresses() const {
  std::vector<TransportAddress> addresses;
  for (const auto& slot : slots_) {
    if (slot->in_service()) addresses.push_back({slot->name(), slot->transport->address()});
  }
  if (!relay_.empty()) {
    const Bytes text = as_bytes(relay_);
    addresses.push_back({kRelayAddress, Blob(text.begin(), text.end())});
  }
  return addresses;
}

void Bml::publish_relay(const std::string& relay) noexcept {
  LIVEBTL_ASSERT(relay.size() <= kRelayBytesMax, "the agent keeps its relay's address short");
  if (relay == relay_) return;
  relay_ = relay;
  announce_addresses();
}

std::vector<std::string> Bml::relays() const {
  std::set<std::string> found;
  for (const auto& [id, peer] : peers_) {
    const auto address = peer->addresses.find(kRelayAddress);
    if (peer->lost || address == peer->addresses.end() || address->second.size() > kRelayBytesMax)
      continue;
    found.emplace(reinterpret_cast<const char*>(address->second.data()), address->second.size());
  }
  return {found.begin(), found.end()};
}

void Bml::announce_addresses() noexcept {
  ++addresses_version_;
  const Blob blob = encode_addresses(own_addresses());
  for_each_peer([&](Peer& peer) {
    if (peer.send_path != nullptr && peer.process != core_.config.process)
      core_.sender.queue_addresses(peer, blob);
  });
}

// Not all contacts fit. The widest reach goes first; of the transports within the node the one of
// lowest exclusivity, since the highest reaches oneself only. What is left out is told by the
// hello; what connects by tickets needs that first.
std::vector<const TransportSlot*> Bml::contacted() const {
  std::vector<const TransportSlot*> open;
  for (const auto& slot : slots_) {
    if (slot->in_service() && !slot->caps.by_ticket) open.push_back(slot.get());
  }
  std::stable_sort(open.begin(), open.end(), [](const TransportSlot* a, const TransportSlot* b) {
    return std::pair(a->caps.same_node_only, a->caps.exclusivity) <
           std::pair(b->caps.same_node_only, b->caps.exclusivity);
  });
  return open;
}

Address Bml::own_address(PortNumber port) const {
  std::vector<std::pair<std::string, Blob>> contacts;
  for (const TransportSlot* slot : contacted())
    contacts.emplace_back(slot->name(), slot->transport->contact());
  return encode_address(core_.config.process, port, contacts);
}

Address Bml::address_of(ProcessId process, PortNumber port,
                        const std::map<std::string, Blob>& addresses) const {
  if (process == core_.config.process) return own_address(port);
  std::vector<std::pair<std::string, Blob>> contacts;
  for (const TransportSlot* slot : contacted()) {
    const auto known = addresses.find(slot->name());
    if (known != addresses.end()) contacts.emplace_back(*known);
  }
  for (const auto& each : addresses) {  // of transports that are closed here
    const bool open = std::any_of(slots_.begin(), slots_.end(), [&](const auto& slot) {
      return slot->name() == each.first && slot->in_service();
    });
    if (!open && each.first != kRelayAddress) contacts.emplace_back(each);
  }
  return encode_address(process, port, contacts);
}

Peer& Bml::peer(ProcessId process) {
  auto& record = peers_[static_cast<std::uint64_t>(process)];
  if (!record) record = std::make_unique<Peer>(process, core_.config.first_seq);
  return *record;
}

Peer* Bml::find_peer(ProcessId process) noexcept {
  const auto found = peers_.find(static_cast<std::uint64_t>(process));
  return found == peers_.end() ? nullptr : found->second.get();
}

Result<Destination> Bml::resolve(const Address& address) {
  const auto parts = decode_address(address);
  if (!parts) return tl::unexpected(parts.error());
  Peer& record = peer(parts->process);
  for (const auto& kind : core_.config.kinds) {
    const auto contact = parts->contacts.find(name_hash(kind.name));
    // What a hello told is whole and newer.
    if (contact != parts->contacts.end()) record.addresses.try_emplace(kind.name, contact->second);
  }
  return Destination{&record, parts->port};
}

std::vector<Candidate> Bml::reachable(const Peer& peer) const {
  std::vector<Candidate> candidates;
  for (const auto& slot : slots_) {
    if (!slot->in_service()) continue;
    const auto address = peer.addresses.find(slot->name());
    const bool own = peer.process == core_.config.process;
    const Blob mine = own ? slot->transport->address() : Blob{};
    if (!own && address == peer.addresses.end()) continue;
    if (slot->transport->reaches(own ? mine : address->second))
      candidates.push_back({slot->name(), slot->caps.exclusivity});
  }
  return candidates;
}

std::string Bml::choice(const Peer& peer, const Routing& routing) const {
  return choose(view(peer, routing), reachable(peer)).value_or("");
}

RoutingView Bml::view(const Peer& peer, const Routing& routing) const {
  const bool own = peer.process == core_.config.process;
  return {routing, core_.switching.node(), own ? "" : std::string_view(peer.node)};
}

}  // namespace livebtl::core

std::string livebtl::Peer::name() const {
  const std::string id = hex_digits(static_cast<std::uint64_t>(process), 16);
  return label.empty() ? "process " + id : label + " (" + id + ")";
}
