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

void Returning::keep_time() noexcept {
  for (auto& slot : parts_.slots.all()) {
    if (slot->absence.doubted || !slot->absence.why.empty()) look_after(*slot);
  }
}

TimeNs Returning::due_at() const noexcept {
  if (!parts_.switching.at_rest() || parts_.hold.parks()) return kNoDeadline;
  TimeNs due = kNoDeadline;
  for (const auto& slot : parts_.slots.all()) {
    if (slot->absence.doubted) due = 0;
    if (!slot->absence.why.empty() && wanted(*slot)) due = std::min(due, slot->absence.look_at);
  }
  return due;
}

bool Returning::wanted(const TransportSlot& slot) const noexcept {
  return slot.absence.awaited || context_.config.settings.returns;
}

void Returning::look_after(TransportSlot& slot) noexcept {
  Absence& absence = slot.absence;
  if (!parts_.switching.at_rest() || parts_.hold.parks()) return;
  judge(slot);
  if (absence.why.empty() || !wanted(slot) || context_.now < absence.look_at) return;
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
  return slot.open() ? slot.transport->usable() : parts_.slots.open(slot.name());
}

// Pairs that send over it move first: only a peer with a path to send on can be told.
void Returning::lose(TransportSlot& slot, const std::string& why) noexcept {
  log(LogLevel::kWarn, "engine", "transport=%s is out of service: %s", slot.name().c_str(),
      why.c_str());
  parts_.peers.for_each([&](Peer& peer) { peer.returns.erase(slot.name()); });  // slot counts them
  note_missing(slot, why);
  parts_.elector.elect_all();
  parts_.slots.announce();
}

void Returning::note_missing(TransportSlot& slot, const std::string& why) noexcept {
  slot.absence.settle.lost(context_.now);
  slot.absence.look_at = context_.now + kLookEvery;
  note_absent(slot, wanted(slot) ? why
                                 : why + "; LIVEBTL_RETURN is off: `btlctl add " + slot.name() +
                                       "` brings it back");
}

void Returning::await(TransportSlot& slot, const std::string& why) noexcept {
  slot.absence.awaited = true;
  slot.absence.settle = {};
  note_missing(slot, why);
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
  parts_.slots.announce();
  parts_.peers.for_each(
      [](Peer& peer) { peer.dials.forget(); });  // also for peers that only it reaches
  parts_.elector.elect_all();
  context_.notify_control();
}

Status Returning::recall(TransportSlot& slot) {
  judge(slot);
  if (!slot.absence.why.empty()) {
    if (Status found = look_for(slot); !found) return found;
    take_back(slot);
  }
  parts_.peers.for_each([&](Peer& peer) { note_open(peer, slot); });
  return {};
}

void Returning::forget(TransportSlot& slot) noexcept {
  parts_.peers.for_each([&](Peer& peer) { peer.returns.erase(slot.name()); });
  if (!std::exchange(slot.absence, {}).why.empty()) context_.notify_control();
}

// A pair's path broke over a transport that both ends have: the next one may break as well.
void Returning::note_lost(Peer& peer, const TransportSlot& slot) noexcept {
  Settle& settle = peer.returns[slot.name()];
  settle.lost(context_.now);
  settle.look(true, context_.now);
  context_.notify_control();
}

namespace {

bool has_lost(const Peer& peer, const std::string& transport) noexcept {
  const auto lost = peer.returns.find(transport);
  return lost != peer.returns.end() && lost->second.away();
}

}  // namespace

// A pair that has nothing else cannot wait, nor can an order.
TimeNs Returning::settles_until(const Peer& peer, const std::string& transport) const noexcept {
  if (!has_lost(peer, transport) || !parts_.dialler.served(peer)) return 0;
  if (!context_.config.settings.returns) return context_.now + kRedialServed;  // put off each time
  const TimeNs due_at = peer.returns.at(transport).due_at();
  return due_at > context_.now ? due_at : 0;
}

void Returning::note_open(Peer& peer, const TransportSlot& slot) noexcept {
  if (!has_lost(peer, slot.name())) return;
  peer.returns[slot.name()].back(context_.now);
  context_.notify_control();
}

// What a pair has lost is reported only where it would use it.
std::uint32_t Returning::pairs_without(const std::string& transport) const {
  std::uint32_t pairs = 0;
  parts_.peers.for_each_met([&](const Peer& peer) {
    if (has_lost(peer, transport) && !peer.lost && !peer.departed &&
        parts_.peers.choice(peer, parts_.switching.in_force()) == transport)
      ++pairs;
  });
  return pairs;
}

std::vector<std::string> Returning::absent() const {
  std::vector<std::string> found;
  for (const auto& slot : parts_.slots.all()) {
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
