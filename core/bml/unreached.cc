// SPDX-License-Identifier: BSD-3-Clause
// core/bml/unreached.cc -- see unreached.h.
#include "core/bml/unreached.h"

#include "base/log.h"
#include "core/bml/dialler.h"
#include "core/bml/peers.h"
#include "core/bml/slots.h"
#include "core/engine/context.h"

namespace livebtl::core {

// Messages wait for a transport that may yet be added, but nobody should have to guess that.
void Unreached::note_cut_off(Peer& peer) noexcept {
  if (peer.send_path == nullptr) seek(peer);
  if (peer.cut_off_since == 0) peer.cut_off_since = context_.now;
  if (peer.cut_off_told || context_.now - peer.cut_off_since < kSecond) return;
  peer.cut_off_told = true;
  std::string ours, theirs, by_ticket;
  for (const auto& slot : slots_.all()) {
    if (slot->open()) ours += " " + slot->name();
    if (peer.addresses.contains(slot->name())) theirs += " " + slot->name();
    if (slot->open() && slot->caps.by_ticket)
      by_ticket = "; " + slot->name() + " connects only over a path of another transport";
  }
  log(LogLevel::kWarn, "engine",
      "no transport reaches %s: open here:%s; it offered:%s; messages to it wait until one that "
      "both have is added (btlctl add; LIVEBTL_TRANSPORTS and LIVEBTL_EXCLUDE leave some out)%s",
      peer.name().c_str(), ours.empty() ? " none" : ours.c_str(),
      theirs.empty() ? " none" : theirs.c_str(), by_ticket.c_str());
}

// The agent is called once, and not again until list() has found nobody.
void Unreached::seek(const Peer& peer) noexcept {
  if (peer.process == context_.config.process || seeks() || seeks_.exchange(true)) return;
  context_.notify_control();
}

// Over a path in use the peer would tell its addresses itself. If all dials fail, they may go to
// where it listened before its transport was reopened; another dial under way does not change that,
// and may take seconds to fail.
bool Unreached::is_unreached(const Peer& peer) const noexcept {
  if (peer.lost || peer.departed || peer.process == context_.config.process) return false;
  const bool under_way =
      std::ranges::any_of(peer.paths, [](const auto& path) { return path->being_dialled(); });
  if (!peer.wants_path && !peer.dials.again && !under_way) return false;
  return peer.send_path == nullptr &&
         (peer.cut_off_since != 0 || peer.dials.delay >= kDialledInVain);
}

std::vector<ProcessId> Unreached::list() {
  std::vector<ProcessId> found;
  peers_.for_each([&](const Peer& peer) {
    if (is_unreached(peer)) found.push_back(peer.process);
  });
  std::sort(found.begin(), found.end());
  if (found.empty()) seeks_.store(false);
  return found;
}

Peer* Unreached::find(ProcessId process) noexcept {
  Peer* peer = peers_.find(process);
  return peer != nullptr && is_unreached(*peer) ? peer : nullptr;
}

void Unreached::introduce(ProcessId process, const Contacts& addresses) {
  Peer* peer = find(process);
  if (peer == nullptr) return;
  std::string news;
  for (const auto& slot : slots_.all()) {
    const auto told = addresses.find(slot->name());
    if (told == addresses.end() || told->second.size() > kAddressBytesMax) continue;
    const auto known = peer->addresses.find(slot->name());
    if (known != peer->addresses.end() && known->second == told->second) continue;
    peers_.learn(*peer, slot->name(), told->second);
    news += " " + slot->name();
    for (auto& path : peer->paths) {
      if (path->being_dialled() && &path->slot == slot.get())
        path->break_down({Errc::kCancelled, "the peer listens elsewhere"});
    }
  }
  if (news.empty()) return;
  log(LogLevel::kInfo, "engine", "%s was found: it listens on%s", peer->name().c_str(),
      news.c_str());
  peer->dials.forget();
}

}  // namespace livebtl::core
