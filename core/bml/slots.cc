// SPDX-License-Identifier: BSD-3-Clause
// core/bml/slots.cc -- see slots.h.
#include "core/bml/slots.h"

#include "base/assert.h"
#include "base/log.h"
#include "core/bml/connector.h"
#include "core/bml/peers.h"
#include "core/engine/context.h"
#include "core/lane/send.h"
#include "core/path/address.h"

namespace livebtl::core {

namespace {
// After this many rounds without a frame, a waiting process may be waiting for any transport.
constexpr std::uint32_t kQuietRounds = 64;
}  // namespace

Slots::Slots(const Context& context, Peers& peers, Sender& sender, Connector& connector)
    : context_(context), peers_(peers), sender_(sender), connector_(connector) {
  for (const TransportKind& kind : context_.config.kinds) {
    slots_.push_back(std::make_unique<TransportSlot>());
    slots_.back()->kind = kind;
    slots_.back()->held = Holdings(kind.devices);
    slots_.back()->caps.exclusivity = kind.exclusivity;
    slots_.back()->caps.bandwidth_mbps = kind.bandwidth_mbps;
  }
}

TransportSlot* Slots::find(std::string_view name) noexcept {
  for (auto& slot : slots_) {
    if (slot->name() == name) return slot.get();
  }
  return nullptr;
}

// A frame kept for one transport must fit every other.
Status Slots::check_caps(const std::string& name, const Caps& caps) const {
  const auto carries = [](const std::string& who, const Caps& its, std::uint32_t needed,
                          const std::string& why) -> Status {
    if (its.payload_bytes_max >= needed) return {};
    return fail(Errc::kInvalid, "transport '" + who + "' carries at most " +
                                    std::to_string(its.payload_bytes_max) +
                                    " bytes of payload in a frame; " + std::to_string(needed) +
                                    " are needed: " + why);
  };
  Status fits = carries(name, caps, kPayloadBytesMin, "what is not cut into pieces must fit");
  if (fits) fits = carries(name, caps, caps.eager_bytes_max, "its own eager messages");
  for (const auto& other : slots_) {
    if (other->caps.payload_bytes_max == 0) continue;  // never opened
    const std::string theirs = "the eager messages of '" + other->name() + "'";
    if (fits) fits = carries(name, caps, other->caps.eager_bytes_max, theirs);
    const std::string ours = "the eager messages of '" + name + "'";
    if (fits) fits = carries(other->name(), other->caps, caps.eager_bytes_max, ours);
  }
  return fits;
}

Status Slots::open(const std::string& name) {
  TransportSlot* slot = find(name);
  if (slot == nullptr)
    return fail(Errc::kNotFound,
                "there is no transport '" + name + "' in this build or in LIVEBTL_TRANSPORTS");
  if (slot->open()) return {};
  NodeFacts facts;
  facts.process = context_.config.process;
  facts.node = context_.config.node;
  facts.one_node = context_.config.one_node;
  facts.job_directory = context_.config.job_directory;
  facts.settings = &context_.config.settings;
  facts.previous_address = slot->last_address;
  auto made = slot->kind.make(facts);
  if (!made) return tl::unexpected(made.error());
  if (Status fits = check_caps(name, (*made)->caps()); !fits) return fits;
  to_announce_ = true;
  slot->transport = std::move(*made);
  slot->pace = slot->transport->pace();
  slot->caps = slot->transport->caps();
  // Peers expected before the transport was closed are still expected.
  peers_.for_each([&](Peer& peer) {
    const auto known = peer.addresses.find(name);
    if (known != peer.addresses.end()) slot->transport->expect(known->second);
  });
  slot->last_address = slot->transport->address();
  log(LogLevel::kInfo, "engine", "transport=%s opened", name.c_str());
  return {};
}

void Slots::expect(TransportSlot& slot, Bytes address) noexcept {
  if (!slot.open() || !slot.transport->expect(address)) return;
  slot.last_address = slot.transport->address();
  to_announce_ = true;
  announce();
}

std::size_t Slots::progress(std::size_t frames_max) noexcept {
  std::size_t moved = 0;
  for (auto& slot : slots_) {
    if (!slot->transport) continue;
    if (slot->pace != nullptr && !slot->pace->due(context_.now, quiet_rounds_ < kQuietRounds))
        [[likely]]
      continue;
    accepting_ = slot.get();
    moved += slot->transport->progress(*this, context_.now, frames_max);
  }
  ++quiet_rounds_;
  if (moved != 0) quiet_rounds_ = 0;
  return moved;
}

void Slots::welcome_all() noexcept { quiet_rounds_ = kQuietRounds; }

void Slots::on_accept(std::unique_ptr<Endpoint> endpoint) noexcept {
  connector_.take_in(*accepting_, std::move(endpoint));
}

std::vector<TransportAddress> Slots::own_addresses() const {
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

void Slots::publish_relay(const std::string& relay) noexcept {
  LIVEBTL_ASSERT(relay.size() <= kRelayBytesMax, "the agent keeps its relay's address short");
  if (relay == relay_) return;
  relay_ = relay;
  announce();
}

void Slots::relocated() noexcept {
  for (auto& slot : slots_) {
    if (slot->open()) slot->transport->relocated();
  }
  announce();
}

/// Addresses also change by themselves. true: they are not what peers were told last.
bool Slots::note_addresses() {
  std::vector<TransportAddress> now = own_addresses();
  if (addresses_version_ != 0 && now == told_) return false;
  told_ = std::move(now);
  ++addresses_version_;
  return true;
}

// Before the first hello, no peer knows other addresses.
const std::vector<TransportAddress>& Slots::addresses_to_tell() {
  const bool first = addresses_version_ == 0;
  if (note_addresses()) to_announce_ = !first;
  return told_;
}

// A frame without news would wake each peer, and its acknowledgement would wake both ends again.
void Slots::announce() noexcept {
  if (!note_addresses() && !to_announce_) return;
  to_announce_ = false;
  const Blob blob = encode_addresses(told_);
  peers_.for_each([&](Peer& peer) {
    // A peer that is sent nothing now, as during a hold, gets this first of all afterwards.
    if (peer.connected() && peer.process != context_.config.process)
      sender_.queue_addresses(peer, blob);
  });
}

// Not all contacts fit. Transports of the widest reach go first; within the node, the lowest
// exclusivity, since the highest reaches only this process. The hello tells the rest; a transport
// that connects by tickets needs a hello first anyway.
std::vector<const TransportSlot*> Slots::contacted() const {
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

Address Slots::own_address(PortNumber port) const {
  std::vector<std::pair<std::string, Blob>> contacts;
  for (const TransportSlot* slot : contacted())
    contacts.emplace_back(slot->name(), slot->transport->contact());
  return encode_address(context_.config.process, port, contacts);
}

Contacts Slots::contacts() const {
  Contacts own;
  for (const auto& slot : slots_) {
    if (slot->in_service()) own[slot->name()] = slot->transport->address();
  }
  return own;
}

}  // namespace livebtl::core
