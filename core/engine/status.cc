// SPDX-License-Identifier: BSD-3-Clause
// core/engine/status.cc -- EngineCore::status(): a copy of what people and btlctl ask for.
#include <algorithm>
#include <set>

#include "core/engine/engine_core.h"

namespace livebtl::core {

void EngineCore::count_pair(const Peer& peer, const TransportSlot& slot,
                            TransportStatus& status) const {
  const auto by_slot = [&slot](const Path* path) { return &path->slot == &slot; };
  const bool ordered = peer.send_path != nullptr && by_slot(peer.send_path);
  const bool bulk = std::ranges::any_of(peer.bulk_paths, by_slot);
  status.peers += ordered ? 1 : 0;
  status.bulk_peers += bulk ? 1 : 0;
  if (peer.process == core_.context.config.process) status.own_pair = ordered || bulk;
}

TransportStatus EngineCore::status_of(const TransportSlot& slot) const {
  const Tuning tuning = core_.switching.in_force().tuned(slot.name());
  TransportStatus status;
  status.name = slot.name();
  status.alias = slot.kind.alias;
  status.bound_to_device = slot.kind.bound_to_device;
  status.open = slot.open();
  status.absent = slot.absence.why;
  status.excluded = core_.switching.own().excluded(slot.name());
  status.quiesced = core_.switching.own().quiesced(slot.name());
  status.exclusivity = tuning.exclusivity.value_or(slot.caps.exclusivity);
  status.weight = tuning.weight.value_or(std::max(1U, slot.caps.bandwidth_mbps / 1000));
  status.paths_lost = slot.paths_lost;
  status.corrupt_frames = slot.corrupt_frames;
  status.carried = slot.closed_stats;
  core_.bml.peers.for_each([&](const Peer& peer) {
    count_pair(peer, slot, status);
    for (const auto& path : peer.paths) {
      if (&path->slot == &slot) status.carried += stats_of(*path);
    }
  });
  return status;
}

PeerStatus EngineCore::status_of(const Peer& peer) const {
  PeerStatus status;
  status.process = peer.process;
  status.name = peer.name();
  status.transport = peer.send_path != nullptr ? peer.send_path->slot.name() : "";
  status.generation = peer.generation;
  status.messages_sent = peer.tx.messages_sent;
  status.messages_received = peer.rx.messages_received;
  status.kept_bytes = peer.tx.window ? peer.tx.window->kept_bytes() : 0;
  status.lost = peer.lost && !peer.left_well();
  for (const auto& [name, stats] : peer.closed_stats) {
    status.frames_sent[name] += stats.frames_sent;
    status.frames_received[name] += stats.frames_received;
  }
  std::set<std::string> bulk;
  for (const Path* path : peer.bulk_paths) bulk.insert(path->slot.name());
  status.bulk.assign(bulk.begin(), bulk.end());
  std::uint64_t since = 0;
  for (const auto& path : peer.paths) {
    const EndpointStats stats = stats_of(*path);  // even of a broken path: counts never go back
    status.frames_sent[path->slot.name()] += stats.frames_sent;
    status.frames_received[path->slot.name()] += stats.frames_received;
    if (!path->open() || !path->marker.peer_sends() || path->marker.peer_since() < since) continue;
    since = path->marker.peer_since();
    status.receiving = path->slot.name();
  }
  return status;
}

EngineStatus EngineCore::status() {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  EngineStatus status;
  status.process = core_.context.config.process;
  status.incarnation = core_.context.fence.own();
  status.hold = core_.hold.report();
  status.rung = core_.switching.report();
  status.rung.absent = core_.returning.absent();
  status.epoch = status.rung.epoch;
  status.routing = core_.switching.in_force();
  for (const auto& slot : core_.bml.slots.all()) status.transports.push_back(status_of(*slot));
  const auto tell = [&](const Peer& peer) {
    if (!peer.departed) status.peers.push_back(status_of(peer));
    status.retransmitted_frames += peer.counts.retransmitted;
    status.duplicate_frames += peer.counts.duplicates;
    status.reordered_frames += peer.counts.reordered;
  };
  core_.bml.peers.for_each(tell);
  core_.bml.peers.for_each_ended(tell);
  return status;
}

}  // namespace livebtl::core
