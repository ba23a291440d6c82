// SPDX-License-Identifier: BSD-3-Clause
// core/switch/returning.cc -- see returning.h.
#include "core/switch/returning.h"

#include "base/log.h"
#include "base/transport_name.h"
#include "core/engine/core.h"

namespace livebtl::core {

namespace {

constexpr TimeNs kLookEvery = kSecond;

std::string seconds(TimeNs time) { return std::to_string(time / kSecond) + " s"; }

}  // namespace

void Returning::keep_time() noexcept {
  for (auto& slot : core_.bml.slots()) {
    if (slot->absence.doubted || !slot->absence.why.empty()) look_after(*slot);
  }
}

void Returning::look_after(TransportSlot& slot) noexcept {
  Absence& absence = slot.absence;
  if (!core_.switching.at_rest() || core_.hold.parks()) return;
  judge(slot);
  const bool wanted = absence.awaited || core_.config.settings.returns;
  if (absence.why.empty() || !wanted || core_.now < absence.look_at) return;
  absence.look_at = core_.now + kLookEvery;
  const Status found = look_for(slot);
  if (absence.settle.look(found.has_value(), core_.now)) return take_back(slot);
  note_absent(slot, found ? "it is there, and used after " + seconds(absence.settle.delay())
                          : found.error().text);
}

void Returning::judge(TransportSlot& slot) noexcept {
  if (!std::exchange(slot.absence.doubted, false) || !slot.in_service()) return;
  if (const Status usable = slot.transport->usable(); !usable) lose(slot, usable.error().text);
}

Status Returning::look_for(TransportSlot& slot) {
  return slot.open() ? slot.transport->usable() : core_.bml.open_transport(slot.name());
}

// Those who send by it move first: only who has a path to send on can be told.
void Returning::lose(TransportSlot& slot, const std::string& why) noexcept {
  log(LogLevel::kWarn, "engine", "transport=%s is out of service: %s", slot.name().c_str(),
      why.c_str());
  core_.bml.for_each_peer([&](Peer& peer) { peer.returns.erase(slot.name()); });  // it counts them
  note_missing(slot, why);
  elect_all();
  core_.bml.announce_addresses();
}

void Returning::note_missing(TransportSlot& slot, const std::string& why) noexcept {
  slot.absence.settle.lost(core_.now);
  slot.absence.look_at = core_.now + kLookEvery;
  note_absent(slot, core_.config.settings.returns ? why
                                                  : why + "; LIVEBTL_RETURN is off: `btlctl add " +
                                                        slot.name() + "` brings it back");
}

void Returning::await(TransportSlot& slot, const std::string& why) noexcept {
  slot.absence.awaited = true;
  slot.absence.settle = {};
  slot.absence.settle.lost(core_.now);
  slot.absence.look_at = core_.now + kLookEvery;
  note_absent(slot, why);
}

void Returning::note_absent(TransportSlot& slot, const std::string& why) noexcept {
  const std::string text(without_name(why, slot.name()));
  if (std::exchange(slot.absence.why, text) != text) tell_control();
}

void Returning::take_back(TransportSlot& slot) noexcept {
  slot.absence.why.clear();
  slot.absence.awaited = false;
  slot.absence.settle.back(core_.now);
  slot.last_address = slot.transport->address();
  log(LogLevel::kWarn, "engine", "transport=%s is in service again", slot.name().c_str());
  core_.bml.announce_addresses();
  elect_all();
  tell_control();
}

Status Returning::recall(TransportSlot& slot) {
  judge(slot);
  if (!slot.absence.why.empty()) {
    if (Status found = look_for(slot); !found) return found;
    take_back(slot);
  }
  core_.bml.for_each_peer([&](Peer& peer) { note_open(peer, slot); });
  return {};
}

void Returning::forget(TransportSlot& slot) noexcept {
  core_.bml.for_each_peer([&](Peer& peer) { peer.returns.erase(slot.name()); });
  if (!std::exchange(slot.absence, {}).why.empty()) tell_control();
}

void Returning::elect_all() noexcept {
  core_.bml.for_each_peer([&](Peer& peer) {
    if (peer.send_path != nullptr || !peer.paths.empty()) core_.bml.elect(peer);
  });
}

void Returning::tell_control() noexcept {
  if (core_.switching.signal) core_.switching.signal();
}

// A pair that broke its path by a transport that both ends have: the next one may break as well.
void Returning::note_lost(Peer& peer, const TransportSlot& slot) noexcept {
  Settle& settle = peer.returns[slot.name()];
  settle.lost(core_.now);
  settle.look(true, core_.now);
  tell_control();
}

// Until when a transport is left alone; 0: it need not be. Who has nothing else cannot wait, nor
// can an order.
TimeNs Returning::settles_until(const Peer& peer, const std::string& transport) const noexcept {
  const auto lost = peer.returns.find(transport);
  if (lost == peer.returns.end() || !lost->second.away() || !core_.bml.served(peer)) return 0;
  if (!core_.config.settings.returns) return core_.now + kRedialServed;  // and so on
  return lost->second.due_at() > core_.now ? lost->second.due_at() : 0;
}

void Returning::note_open(Peer& peer, const TransportSlot& slot) noexcept {
  const auto lost = peer.returns.find(slot.name());
  if (lost == peer.returns.end() || !lost->second.away()) return;
  lost->second.back(core_.now);
  tell_control();
}

void Returning::note_addresses(Peer& peer) noexcept {
  std::erase_if(peer.returns,
                [&](const auto& lost) { return !peer.addresses.contains(lost.first); });
}

// What a pair has lost is told where it would use it.
std::uint32_t Returning::pairs_without(const std::string& transport) const {
  std::uint32_t pairs = 0;
  core_.bml.for_each_peer([&](const Peer& peer) {
    const auto lost = peer.returns.find(transport);
    const bool away = lost != peer.returns.end() && lost->second.away();
    if (away && !peer.lost && !peer.departed &&
        core_.bml.choice(peer, core_.switching.in_force()) == transport)
      ++pairs;
  });
  return pairs;
}

std::vector<std::string> Returning::absent() const {
  std::vector<std::string> found;
  for (const auto& slot : core_.bml.slots()) {
    if (!slot->absence.why.empty()) found.push_back(slot->name() + ": " + slot->absence.why);
    const std::uint32_t pairs = pairs_without(slot->name());
    if (pairs == 0) continue;
    found.push_back(slot->name() + ": " + std::to_string(pairs) +
                    (pairs == 1 ? " pair has" : " pairs have") + " lost the path by it" +
                    (core_.config.settings.returns ? "" : ", and LIVEBTL_RETURN is off"));
  }
  return found;
}

}  // namespace livebtl::core
