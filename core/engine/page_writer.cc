// SPDX-License-Identifier: BSD-3-Clause
// core/engine/page_writer.cc -- see page_writer.h.
#include "core/engine/page_writer.h"

#include "core/engine/core.h"

namespace livebtl::core {
namespace {

// Limits for walks of lists that a program may make as long as it likes.
constexpr std::uint32_t kQueuedMax = 1000;
constexpr std::size_t kReceivesMax = 256;
constexpr std::size_t kTransfersMax = 512;

std::uint64_t messages_of(const PeerPage& peer) noexcept {
  return peer.messages_sent + peer.messages_received;
}

/// Where the next peer goes: after the others; in a full page, over the one that has talked least.
PeerPage* place_for(EnginePage& page, std::uint64_t messages) noexcept {
  if (page.peers_shown < kPagePeers) return &page.peer[page.peers_shown++];
  const auto least = std::ranges::min_element(page.peer, {}, messages_of);
  return messages > messages_of(*least) ? &*least : nullptr;
}

std::uint32_t waiting_frames(const Peer& peer) noexcept {
  const auto& tx = peer.tx;
  return std::min(kQueuedMax, tx.control.count_up_to(kQueuedMax) +
                                  tx.requests.count_up_to(kQueuedMax) +
                                  tx.messages.count_up_to(kQueuedMax));
}

PeerPage* shown(EnginePage& page, ProcessId process) noexcept {
  const auto end = page.peer.begin() + page.peers_shown;
  const auto found = std::find_if(page.peer.begin(), end, [process](const PeerPage& peer) {
    return peer.process == static_cast<std::uint64_t>(process);
  });
  return found == end ? nullptr : &*found;
}

void add(PeerPage& page, const EndpointStats& stats) noexcept {
  page.bytes_sent += stats.bytes_sent;
  page.bytes_received += stats.bytes_received;
}

}  // namespace

void PageWriter::show_on(EnginePageLatch* page) noexcept {
  page_ = page;
  behind_ = false;
  if (page_ != nullptr) write(core_.context.config.now());
}

void PageWriter::before_sleep(TimeNs now, bool moved) noexcept {
  behind_ = false;
  if (page_ == nullptr || (written_ == now && !moved)) return;
  behind_ = now - written_ < kPauseOfAgent + slack_;
  if (!behind_) write(now);
}

// In mid-ladder, frames to come wake the agent anyway, and before_sleep() copies then: waking for a
// copy alone costs more than the copy.
TimeNs PageWriter::due_at() const noexcept {
  if (!behind_) return kNoDeadline;
  const TimeNs pause = core_.switching.at_rest() ? kPauseOfAgent : kPause;
  return written_ + pause + slack_;
}

void PageWriter::write(TimeNs now) noexcept {
  EnginePage& page = page_->to_fill();
  page.written_ns = written_ = now;
  page.losses = core_.bml.losses.total();
  write_hold(page.hold);
  write_transports(page);
  write_peers(page);
  write_awaited(page);
  write_untaken(page);
  write_losses(page);
  page_->publish();
  slack_ = page.peers * kSlackOfPeer;
}

std::uint8_t PageWriter::index_of(const TransportSlot& slot) const noexcept {
  std::uint8_t index = 0;
  for (const auto& each : core_.bml.slots.all()) {
    if (each.get() == &slot) return index < kPageTransports ? index : kNoTransport;
    ++index;
  }
  return kNoTransport;
}

void PageWriter::write_transports(EnginePage& page) const noexcept {
  page.transports_shown = 0;
  for (const auto& slot : core_.bml.slots.all()) {
    if (page.transports_shown == kPageTransports) break;
    TransportPage& to = page.transport[page.transports_shown++];
    const Tuning tuning = core_.switching.in_force().tuned(slot->name());
    const bool excluded = core_.switching.own().excluded(slot->name());
    const bool quiesced = core_.switching.own().quiesced(slot->name());
    to = {};
    to.name = slot->name();
    to.absent = slot->absence.why;
    to.exclusivity = tuning.exclusivity.value_or(slot->caps.exclusivity);
    to.weight = tuning.weight.value_or(std::max(1U, slot->caps.bandwidth_mbps / 1000));
    to.open = slot->open() ? 1 : 0;
    to.excluded = excluded ? 1 : 0;
    to.quiesced = quiesced ? 1 : 0;
    to.bound_to_device = slot->kind.bound_to_device ? 1 : 0;
    to.carried = slot->closed_stats;
    to.paths_lost = slot->paths_lost;
    to.corrupt_frames = slot->corrupt_frames;
  }
}

void PageWriter::write_peers(EnginePage& page) const noexcept {
  page.peers_shown = 0;
  page.retransmitted_frames = page.duplicate_frames = page.reordered_frames = 0;
  page.messages_sent = page.messages_received = 0;
  const auto count = [&page](const Peer& peer) {
    page.retransmitted_frames += peer.counts.retransmitted;
    page.duplicate_frames += peer.counts.duplicates;
    page.reordered_frames += peer.counts.reordered;
    page.messages_sent += peer.tx.messages_sent;
    page.messages_received += peer.rx.messages_received;
  };
  page.peers = static_cast<std::uint32_t>(core_.bml.peers.count());
  core_.bml.peers.for_each_met([&](const Peer& peer) {
    count(peer);
    write_peer(peer, page);
  });
  core_.bml.peers.for_each_ended(count);
}

/// Writes the peer, and adds its share to what its transports have carried.
void PageWriter::write_peer(const Peer& peer, EnginePage& page) const noexcept {
  PeerPage unseen;
  PeerPage* place =
      peer.departed ? nullptr : place_for(page, peer.tx.messages_sent + peer.rx.messages_received);
  PeerPage& to = place != nullptr ? *place : unseen;
  to = {};
  to.process = static_cast<std::uint64_t>(peer.process);
  to.label = peer.label;
  to.messages_sent = peer.tx.messages_sent;
  to.messages_received = peer.rx.messages_received;
  to.kept_bytes = peer.tx.window ? peer.tx.window->kept_bytes() : 0;
  to.queued = waiting_frames(peer);
  to.out_of_credit = peer.send_path != nullptr && peer.tx.out_of_credit() ? 1 : 0;
  to.untaken = static_cast<std::uint32_t>(peer.awaiting_done.size());
  to.sending = peer.send_path != nullptr ? index_of(peer.send_path->slot) : kNoTransport;
  to.receiving = kNoTransport;
  to.lost = peer.lost && !peer.left_well() ? 1 : 0;
  to.generation = peer.generation;
  for (const auto& [name, stats] : peer.closed_stats) add(to, stats);
  write_paths(peer, page, to);
  const bool own = peer.process == core_.context.config.process;
  for (std::uint32_t i = 0; i < page.transports_shown; ++i) {
    const bool ordered = to.sending == i;
    const bool bulk = (to.bulk >> i & 1) != 0;
    page.transport[i].pairs += ordered ? 1 : 0;
    page.transport[i].bulk_pairs += bulk ? 1 : 0;
    if (own && (ordered || bulk)) page.transport[i].own_pair = 1;
  }
}

void PageWriter::write_paths(const Peer& peer, EnginePage& page, PeerPage& to) const noexcept {
  std::uint64_t since = 0;
  for (const auto& path : peer.paths) {
    const EndpointStats stats = stats_of(*path);  // even of a broken path: counts never go back
    const std::uint8_t index = index_of(path->slot);
    add(to, stats);
    if (index != kNoTransport) page.transport[index].carried += stats;
    if (!path->open() || !path->marker.peer_sends() || path->marker.peer_since() < since) continue;
    since = path->marker.peer_since();
    to.receiving = index;
  }
  for (const Path* path : peer.bulk_paths) {
    const std::uint8_t index = index_of(path->slot);
    if (index != kNoTransport) to.bulk = static_cast<std::uint8_t>(to.bulk | 1U << index);
  }
}

/// A peer that is waited for is shown even if nothing has come from it yet.
PeerPage* PageWriter::shown_anyway(const Peer& peer, EnginePage& page) const noexcept {
  PeerPage* const there = shown(page, peer.process);
  if (there != nullptr || peer.met) return there;
  write_peer(peer, page);
  return shown(page, peer.process);
}

void PageWriter::write_awaited(EnginePage& page) const noexcept {
  page.awaited_from_any = 0;
  core_.ports.for_each_receive(kReceivesMax, [&](const ReceiveState& receive) {
    if (receive.from.peer == nullptr) {
      ++page.awaited_from_any;
      return;
    }
    if (PeerPage* const peer = shown_anyway(*receive.from.peer, page)) ++peer->awaited;
  });
}

void PageWriter::write_untaken(EnginePage& page) const noexcept {
  core_.transfers.for_each_untaken(kTransfersMax, [&page](const Peer& peer) {
    if (PeerPage* const to = shown(page, peer.process)) ++to->untaken;
  });
}

void PageWriter::write_losses(EnginePage& page) const noexcept {
  page.losses_shown = 0;
  for (const Losses::Loss& loss : core_.bml.losses.last()) {
    if (page.losses_shown == kPageLosses) break;
    LossPage& to = page.loss[page.losses_shown++];
    to.at_ns = loss.at;
    to.process = static_cast<std::uint64_t>(loss.peer);
    to.transport = loss.transport;
    to.why = loss.why;
  }
}

void PageWriter::write_hold(HoldPage& page) const noexcept {
  const HoldReport report = core_.hold.summary();
  page.id = report.id;
  page.restored_from = report.restored_from;
  page.claim = report.claim;
  page.members = report.members;
  page.incarnation = static_cast<std::uint32_t>(report.incarnation);
  page.until_ns = core_.context.now + report.left_ms * kMillisecond;
  page.state = static_cast<std::uint8_t>(report.state);
  page.claimed = report.claimed ? 1 : 0;
  page.why = report.why;
}

}  // namespace livebtl::core
