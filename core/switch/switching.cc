// SPDX-License-Identifier: BSD-3-Clause
// core/switch/switching.cc -- see switching.h.
#include "core/switch/switching.h"

#include <utility>

#include "base/log.h"
#include "base/transport_name.h"
#include "core/bml/dialler.h"
#include "core/bml/elector.h"
#include "core/bml/losses.h"
#include "core/bml/peers.h"
#include "core/bml/slots.h"
#include "core/engine/context.h"
#include "core/switch/hold.h"
#include "core/switch/returning.h"

namespace livebtl::core {

namespace {
constexpr std::size_t kNamesMax = 32;  // in a report; the counts are exact
}  // namespace

Switching::Switching(const Parts& parts) : parts_(parts), context_(parts.context) {
  order_.before = context_.config.routing;
}

RoutingView Switching::own(const Routing& routing) const { return {routing, context_.node}; }

void Switching::adopt(const RungOrder& standing) {
  order_ = standing;
  report_ = {};
  report_.operation = standing.operation;
  report_.epoch = standing.epoch;
  report_.rung = standing.rung;
  report_.reached = standing.rung == Rung::kOld || standing.rung == Rung::kNew;
}

bool Switching::accepts(const std::string& transport) const noexcept {
  // Old and new are both received on until the last rung; which paths carry frames is up to the
  // sender.
  const bool old_allows = !own(order_.before).excluded(transport);
  const bool new_allows = !own(order_.after).excluded(transport);
  if (order_.rung == Rung::kOld) return old_allows;
  return order_.rung == Rung::kNew ? new_allows : old_allows || new_allows;
}

// The coordinator is told, and history keeps it: as a warning it would be a line per rank in the
// job's output.
void Switching::refuse(std::string text) {
  report_.refusal = std::move(text);
  report_.reached = false;
  log(LogLevel::kInfo, "switch", "refused rung=%u operation=%016llx: %s",
      static_cast<unsigned>(report_.rung), static_cast<unsigned long long>(report_.operation),
      report_.refusal.c_str());
}

bool Switching::wait_for(const Peer& peer, const char* what) {
  if (report_.waiting.size() < kNamesMax) report_.waiting.push_back(peer.name() + ": " + what);
  return false;
}

// in: an order newer than all before (checked by control). out: the engine works on it, or says why
// it refuses.
void Switching::order(const RungOrder& order) {
  const bool same_operation = order.operation == order_.operation;
  if (same_operation && order.rung == order_.rung && report_.refusal.empty()) return;
  const Rung from = same_operation ? order_.rung : Rung::kOld;
  // Compared with the rung that was ordered last, even if that order was refused.
  descending_ = same_operation && order.rung < report_.rung;
  const RungReport before = std::exchange(report_, {});
  if (same_operation && order.rung == Rung::kNew) keep_pairs(before);
  report_.operation = order.operation;
  report_.epoch = order.epoch;
  report_.rung = order.rung;
  report_.reached = false;
  order_ = order;
  log(LogLevel::kInfo, "switch", "operation=%016llx epoch=%u rung=%u",
      static_cast<unsigned long long>(order.operation), order.epoch,
      static_cast<unsigned>(order.rung));
  if (order.rung > from && !may_rise(from)) {
    order_.rung = from;  // stays where it was: the routing in force is unchanged
    return context_.notify_control();
  }
  parts_.dialler.forget_failed_dials();
  parts_.elector.elect_all();
  begin_release();
  if (order.rung == Rung::kOld || order.rung == Rung::kNew) close_dropped();
  tick();
}

RoutingPlan Switching::plan(const Routing& routing) const {
  RoutingPlan plan;
  parts_.peers.for_each([&](Peer& peer) {
    if (peer.lost || peer.departed) return;
    if (peer.process == context_.config.process && peer.send_path == nullptr) return;  // not in use
    // A transport that the new routing adds is not open yet: it can only help, so what is open
    // decides.
    const std::string now = peer.send_path != nullptr ? peer.send_path->slot.name()
                                                      : parts_.peers.choice(peer, in_force());
    const std::string then = parts_.peers.choice(peer, routing);
    if (now == then) {
      ++plan.unchanged;
    } else if (then.empty()) {
      plan.cut_off.push_back(peer.name());
    } else {
      ++plan.moves[now][then];
    }
  });
  return plan;
}

// Before anything is changed. From joint on, what the routing adds is open, and a process that has
// joined since the first order may be connected only over what the new routing excludes. Once
// committed, nobody refuses.
bool Switching::may_rise(Rung from) {
  if (parts_.hold.parks()) {
    refuse(context_.fence.out() ? "this process was left behind when the job was restored; end it"
                                : "the job is held for a snapshot; end the hold first");
    return false;
  }
  if (from == Rung::kOld) return (adds() || !refuse_if_cut_off()) && open_added();
  return order_.rung == Rung::kNew || !refuse_if_cut_off();
}

// In this process.
bool Switching::adds(const std::string& transport) const {
  return own(order_.before).excluded(transport) && !own(order_.after).excluded(transport);
}

bool Switching::adds() const {
  return std::ranges::any_of(parts_.slots.all(),
                             [&](const auto& slot) { return adds(slot->name()); });
}

// Judges as plan() does, but finds nothing else: for each peer of the job, met or not.
std::vector<std::string> Switching::would_be_cut_off_by(const Routing& routing) const {
  std::vector<std::string> names;
  parts_.peers.for_each([&](const Peer& peer) {
    if (peer.lost || peer.departed) return;
    if (peer.process == context_.config.process && peer.send_path == nullptr) return;
    if (parts_.peers.any_permitted(peer, routing)) return;
    if (peer.send_path != nullptr || parts_.peers.any_permitted(peer, in_force()))
      names.push_back(peer.name());
  });
  return names;
}

bool Switching::refuse_if_cut_off() {
  std::vector<std::string> cut_off = would_be_cut_off_by(order_.after);
  if (cut_off.empty()) return false;
  refuse("it is the last path to " + std::to_string(cut_off.size()) + " peer(s), first " +
         cut_off[0] + "; add another transport first");
  report_.refused_last_path = true;
  cut_off.resize(std::min(cut_off.size(), kNamesMax));
  report_.pairs = std::move(cut_off);
  return true;
}

bool Switching::open_added() {
  // A transport that this process was not built or set up with is added by those that have it.
  for (const auto& slot : parts_.slots.all()) {
    if (const Status opened = open(*slot); !opened) {
      refuse(opened.error().text);
      close_unwanted(order_.before);
      return false;
    }
  }
  parts_.slots.announce();
  return true;
}

// Opens what the order requires: what it adds, what it asks for by name, or what was added before
// its device was there.
Status Switching::open(TransportSlot& slot) {
  if (adds(slot.name())) {
    Status opened = parts_.slots.open(slot.name());
    if (opened || !order_.patient) return opened;
    parts_.returning.await(slot, opened.error().text);
    return {};
  }
  const bool asked = order_.wanted.empty() ? order_.patient && slot.absence.awaited
                                           : is_meant_by(slot.name(), order_.wanted);
  if (!asked || own(order_.after).excluded(slot.name())) return {};
  Status found = parts_.returning.recall(slot);
  return order_.patient ? Status() : found;
}

void Switching::look() noexcept {
  report_.waiting.clear();
  if (order_.rung != Rung::kNew) keep_pairs({});
  bool reached = true;
  parts_.peers.for_each_met([&](Peer& peer) {
    if (peer.lost || peer.departed || peer.paths.empty()) return;
    reached = pair_ready(peer) && reached;
  });
  if (order_.rung == Rung::kNew && (parts_.losses.pending() || !unreleased_.empty()))
    reached = false;
  if (!reached) return;
  report_.reached = true;
  context_.notify_control();
}

// Pairs are counted while both transports are open: on the last rung nobody knows any more where
// each of them came from.
void Switching::keep_pairs(const RungReport& counted) noexcept {
  report_.pairs = counted.pairs;
  report_.pairs_moved = counted.pairs_moved;
  report_.pairs_left = counted.pairs_left;
}

// Has this pair done what the rung asks? Helps it along where it has not.
bool Switching::pair_ready(Peer& peer) noexcept {
  if (order_.rung == Rung::kNew) return true;
  // Computed once, as this is done in every turn of a ladder, for every peer.
  const Candidates reachable = parts_.peers.reachable(peer);
  const auto choice = [&](const Routing& routing) {
    return choose(parts_.peers.view(peer, routing), reachable).value_or("");
  };
  const std::string then = choice(order_.after);
  const std::string now = choice(order_.before);
  const std::string& wanted = &in_force() == &order_.after ? then : now;
  const std::uint32_t ends = peer.process == context_.config.process ? 2 : 1;
  if (now != then) report_.pairs_moved += ends;
  count_left(peer, then);
  // When descending, the new transport may be what failed.
  const bool rises_to_joint = order_.rung == Rung::kJoint && !descending_;
  return rises_to_joint ? opened(peer, then) : emptied(peer, wanted);
}

bool Switching::opened(Peer& peer, const std::string& wanted) noexcept {
  // Without a send path, nothing can be told: on a quiesced transport a path has only said hello.
  if (peer.send_path != nullptr && !peer.knows_our_addresses())
    return wait_for(peer, "the peer has not taken our new addresses");
  if (wanted.empty() || peer.send_path == nullptr ||
      parts_.elector.open_path(peer, wanted) != nullptr)
    return true;
  parts_.dialler.open_early(peer, wanted);
  return wait_for(peer, "the new path is not open yet");
}

void Switching::count_left(const Peer& peer, const std::string& then) noexcept {
  const RoutingView after = parts_.peers.view(peer, order_.after);
  const bool new_rule = after.moved(then) != nullptr && !is_meant_by(then, *after.moved(then)) &&
                        parts_.peers.view(peer, order_.before).moved(then) == nullptr;
  if (!new_rule) return;
  report_.pairs_left += peer.process == context_.config.process ? 2 : 1;
  if (report_.pairs.size() < kNamesMax) report_.pairs.push_back(peer.name());
}

namespace {

bool in_use(const Peer& peer) noexcept { return peer.send_path != nullptr || peer.has_to_send(); }

}  // namespace

// When the order to newtx came, the pair had met, or was still meeting, over what is taken away.
bool Switching::would_be_cut_off(const Peer& peer) const {
  return order_.rung == Rung::kNewTx && !descending_ && in_use(peer) &&
         !parts_.peers.choice(peer, order_.before).empty();
}

// All that this end sent on paths it has left is proved taken: markers acknowledged, nothing posted
// there.
bool Switching::emptied(Peer& peer, const std::string& wanted) noexcept {
  if (parts_.hold.parks())
    return true;  // a process that is held has refused to rise: there is nothing to empty
  if (wanted.empty()) {
    if (would_be_cut_off(peer)) return wait_for(peer, "no transport would be left to it");
    // A pair that met over a transport that is taken back has no other: its frames wait for one.
    if (peer.send_path != nullptr) parts_.elector.stop_sending(peer, "no transport is left to it");
  } else if (in_use(peer) && (peer.send_path == nullptr || peer.send_path->slot.name() != wanted)) {
    // A pair with no send path and nothing to send dials when it has: that is not waited for.
    parts_.elector.elect(peer);
    return wait_for(peer, "the path to send on is not open");
  }
  for (auto& path : peer.paths) {
    if (parts_.elector.left(peer, *path) && !path->emptied())
      return wait_for(peer, path->marker.acked()
                                ? "frames are still in the old path's buffers"
                                : "the peer has not acknowledged the marker on the old path");
  }
  if (!wanted.empty() && peer.tx.replay_seq < peer.tx.replay_end)
    return wait_for(peer, "frames of a lost path are being sent again");
  return true;
}

}  // namespace livebtl::core
