// SPDX-License-Identifier: BSD-3-Clause
// core/switch/returning.cc -- see returning.h.
#include "core/switch/returning.h"

#include "base/log.h"
#include "base/transport_name.h"
#include "core/bml/dialler.h"
#include "core/bml/elector.h"
#include "core/bml/peers.h"
#include "core/bml/slots.h"
#include "core/engine/context.h"
#include "core/switch/hold.h"
#include "core/switch/switching.h"

namespace livebtl::core {

namespace {

constexpr TimeNs kLookEvery = kSecond;

std::string seconds(TimeNs time) { return std::to_string(time / kSecond) + " s"; }

}  // namespace

Returning::Returning(const Parts& parts)
    : context_(parts.context),
      slots_(parts.slots),
      peers_(parts.peers),
      elector_(parts.elector),
      dialler_(parts.dialler),
      switching_(parts.switching),
      hold_(parts.hold) {}

void Returning::keep_time() noexcept {
  for (auto& slot : slots_.all()) {
    if (slot->absence.doubted || !slot->absence.why.empty()) look_after(*slot);
  }
}

void Returning::look_after(TransportSlot& slot) noexcept {
  Absence& absence = slot.absence;
  if (!switching_.at_rest() || hold_.parks()) return;
  judge(slot);
  const bool wanted = absence.awaited || context_.config.settings.returns;
  if (absence.why.empty() || !wanted || context_.now < absence.look_at) return;
  absence.look_at = context_.now + kLookEvery;
  const Status found = look_for(slot);
  if (absence.settle.look(found.has_value(), context_.now)) return take_back(slot);
  note_absent(slot, found ? "it is there, and used after " + seconds(absence.settle.delay())
                          : found.error().text);
}

void Returning::judge(TransportSlot& slot) noexcept {
  if (!std::exchange(slot.absence.doubted, false) || !slot.in_service()) return;
  if (const Status usable = slot.transport->usable(); !usable) lose(slot, usable.error().text);
}

Status Returning::look_for(TransportSlot& slot) {
  return slot.open() ? slot.transport->usable() : slots_.open(slot.name());
}

// Pairs that send by it move first: only a peer with a path to send on can be told.
void Returning::lose(TransportSlot& slot, const std::string& why) noexcept {
  log(LogLevel::kWarn, "engine", "transport=%s is out of service: %s", slot.name().c_str(),
      why.c_str());
  peers_.for_each([&](Peer& peer) { peer.returns.erase(slot.name()); });  // it counts them
  note_missing(slot, why);
  elector_.elect_all();
  slots_.announce();
}

void Returning::note_missing(TransportSlot& slot, const std::string& why) noexcept {
  slot.absence.settle.lost(context_.now);
  slot.absence.look_at = context_.now + kLookEvery;
  note_absent(
      slot, context_.config.settings.returns
                ? why
                : why + "; LIVEBTL_RETURN is off: `btlctl add " + slot.name() + "` brings it back");
}

void Returning::await(TransportSlot& slot, const std::string& why) noexcept {
  slot.absence.awaited = true;
  slot.absence.settle = {};
  slot.absence.settle.lost(context_.now);
  slot.absence.look_at = context_.now + kLookEvery;
  note_absent(slot, why);
}

void Returning::note_absent(TransportSlot& slot, const std::string& why) noexcept {
  const std::string text(without_name(why, slot.name()));
  if (std::exchange(slot.absence.why, text) != text) context_.notify_control();
}

void Returning::take_back(TransportSlot& slot) noexcept {
  slot.absence.why.clear();
  slot.absence.awaited = false;
  slot.absence.settle.back(context_.now);
  slot.last_address = slot.transport->address();
  log(LogLevel::kWarn, "engine", "transport=%s is in service again", slot.name().c_str());
  slots_.announce();
  elector_.elect_all();
  context_.notify_control();
}

Status Returning::recall(TransportSlot& slot) {
  judge(slot);
  if (!slot.absence.why.empty()) {
    if (Status found = look_for(slot); !found) return found;
    take_back(slot);
  }
  peers_.for_each([&](Peer& peer) { note_open(peer, slot); });
  return {};
}

void Returning::forget(TransportSlot& slot) noexcept {
  peers_.for_each([&](Peer& peer) { peer.returns.erase(slot.name()); });
  if (!std::exchange(slot.absence, {}).why.empty()) context_.notify_control();
}

// A pair that broke its path by a transport that both ends have: the next one may break as well.
void Returning::note_lost(Peer& peer, const TransportSlot& slot) noexcept {
  Settle& settle = peer.returns[slot.name()];
  settle.lost(context_.now);
  settle.look(true, context_.now);
  context_.notify_control();
}

// Until when a transport is left alone; 0: it need not be. A pair that has nothing else cannot wait,
// nor can an order.
TimeNs Returning::settles_until(const Peer& peer, const std::string& transport) const noexcept {
  const auto lost = peer.returns.find(transport);
  if (lost == peer.returns.end() || !lost->second.away() || !dialler_.served(peer)) return 0;
  if (!context_.config.settings.returns) return context_.now + kRedialServed;  // and so on
  return lost->second.due_at() > context_.now ? lost->second.due_at() : 0;
}

void Returning::note_open(Peer& peer, const TransportSlot& slot) noexcept {
  const auto lost = peer.returns.find(slot.name());
  if (lost == peer.returns.end() || !lost->second.away()) return;
  lost->second.back(context_.now);
  context_.notify_control();
}

void Returning::note_addresses(Peer& peer) noexcept {
  std::erase_if(peer.returns,
                [&](const auto& lost) { return !peer.addresses.contains(lost.first); });
}

// What a pair has lost is told where it would use it.
std::uint32_t Returning::pairs_without(const std::string& transport) const {
  std::uint32_t pairs = 0;
  peers_.for_each([&](const Peer& peer) {
    const auto lost = peer.returns.find(transport);
    const bool away = lost != peer.returns.end() && lost->second.away();
    if (away && !peer.lost && !peer.departed &&
        peers_.choice(peer, switching_.in_force()) == transport)
      ++pairs;
  });
  return pairs;
}

std::vector<std::string> Returning::absent() const {
  std::vector<std::string> found;
  for (const auto& slot : slots_.all()) {
    if (!slot->absence.why.empty()) found.push_back(slot->name() + ": " + slot->absence.why);
    const std::uint32_t pairs = pairs_without(slot->name());
    if (pairs == 0) continue;
    found.push_back(slot->name() + ": " + std::to_string(pairs) +
                    (pairs == 1 ? " pair has" : " pairs have") + " lost the path by it" +
                    (context_.config.settings.returns ? "" : ", and LIVEBTL_RETURN is off"));
  }
  return found;
}

}  // namespace livebtl::core
