// SPDX-License-Identifier: BSD-3-Clause
// core/bml/bml_meeting.cc -- peers that none of the addresses reaches which we have of them: who they
// are, for the control plane to ask where they listen, and what it has found out.
#include "base/log.h"
#include "core/engine/core.h"

namespace livebtl::core {

namespace {
constexpr std::size_t kAddressBytesMax = 512;  // as in a hello
}

// Messages wait for a transport that may be added yet, but nobody should have to guess it.
void Bml::note_cut_off(Peer& peer) noexcept {
  if (peer.send_path == nullptr) seek(peer);
  if (peer.cut_off_since == 0) peer.cut_off_since = core_.now;
  if (peer.cut_off_told || core_.now - peer.cut_off_since < kSecond) return;
  peer.cut_off_told = true;
  std::string ours, theirs, by_ticket;
  for (const auto& slot : slots_) {
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

// Cheap: asked whenever such a peer is looked at. The agent is called once, until unreached() has
// found nobody any more.
void Bml::seek(const Peer& peer) noexcept {
  if (peer.process == core_.config.process || seeks() || seeks_.exchange(true)) return;
  if (core_.switching.signal) core_.switching.signal();
}

// Over a path that is in use it would tell its addresses itself. Dials that all fail may go to
// where it listened before its transport was closed and opened again; one more that is under way
// changes nothing of that, and may take seconds to fail.
bool Bml::is_unreached(const Peer& peer) const noexcept {
  if (peer.lost || peer.departed || peer.process == core_.config.process) return false;
  if (!peer.wants_path && !peer.redials && !dialling(peer)) return false;
  return peer.send_path == nullptr &&
         (peer.cut_off_since != 0 || peer.dial_delay >= kDialledInVain);
}

std::vector<ProcessId> Bml::unreached() {
  std::vector<ProcessId> found;
  for_each_peer([&](const Peer& peer) {
    if (is_unreached(peer)) found.push_back(peer.process);
  });
  std::sort(found.begin(), found.end());
  if (found.empty()) seeks_.store(false);
  return found;
}

// in: what a process is said to have answered; nobody has proved it, the hello will. out: no more
// than further addresses to dial of a peer that is sought, by transports that this process has.
void Bml::introduce(ProcessId process, const Contacts& addresses) {
  Peer* peer = find_peer(process);
  if (peer == nullptr || !is_unreached(*peer)) return;
  std::string news;
  for (const auto& slot : slots_) {
    const auto told = addresses.find(slot->name());
    if (told == addresses.end() || told->second.size() > kAddressBytesMax) continue;
    Blob& known = peer->addresses[slot->name()];
    if (known == told->second) continue;
    known = told->second;
    news += " " + slot->name();
    for (auto& path : peer->paths) {
      if (path->dialled && path->state == Path::State::kHello && &path->slot == slot.get())
        path->break_down({Errc::kCancelled, "the peer listens elsewhere"});
    }
  }
  if (news.empty()) return;
  log(LogLevel::kInfo, "engine", "%s was found: it listens on%s", peer->name().c_str(),
      news.c_str());
  forget_failed_dials(*peer);
}

Contacts Bml::contacts() const {
  Contacts own;
  for (const auto& slot : slots_) {
    if (slot->in_service()) own[slot->name()] = slot->transport->address();
  }
  return own;
}

}  // namespace livebtl::core
