// SPDX-License-Identifier: BSD-3-Clause
// core/switch/switching_release.cc -- what a switch closes at the ends of a ladder, and the proof
// that nobody in this process, and no child, holds any of it. See switching.h.
#include <algorithm>

#include "core/bml/losses.h"
#include "core/bml/peers.h"
#include "core/bml/slots.h"
#include "core/engine/context.h"
#include "core/switch/returning.h"
#include "core/switch/switching.h"

namespace livebtl::core {

namespace {
constexpr TimeNs kLookForHoldersEvery = 20 * kMillisecond;
constexpr TimeNs kReleaseTimeout = 250 * kMillisecond;
}  // namespace

void Switching::begin_release() noexcept {
  unreleased_.clear();
  look_again_at_ = 0;
  release_deadline_ = context_.now + kReleaseTimeout;
}

// Closes transports that the routing now in force excludes; the rungs before drained their pairs.
void Switching::close_dropped() noexcept {
  const Routing& routing = order_.rung == Rung::kNew ? order_.after : order_.before;
  close_moved_pairs();
  close_unwanted(routing);
}

// A transport never open here is looked for as well: another library may hold its device.
void Switching::close_unwanted(const Routing& routing) noexcept {
  for (const auto& slot : parts_.slots.all()) {
    const std::string& name = slot->name();
    if (!own(routing).excluded(name)) continue;
    parts_.returning.forget(*slot);
    const bool leaves = slot->open() || !own(order_.before).excluded(name);
    if (slot->open()) close_for_good(*slot);
    if (leaves && order_.rung == Rung::kNew && slot->held.any()) unreleased_.push_back(name);
  }
}

void Switching::close_for_good(TransportSlot& slot) {
  slot.held = Holdings::of(*slot.transport, slot.kind.devices);
  parts_.losses.close_transport(slot);
  slot.held.note_closed();
}

Holdings Switching::wanted(const TransportSlot& slot) const {
  Holdings wanted = slot.held;
  for (const auto& other : parts_.slots.all()) {
    const bool alike =
        !slot.kind.devices.prefix.empty() && other->kind.devices.prefix == slot.kind.devices.prefix;
    if (other->open() && alike) wanted.leave_to(*other->transport, other->name());
  }
  return wanted;
}

Wanted Switching::to_look_for() const {
  Wanted all;
  if (context_.now < look_again_at_) return all;
  for (const std::string& name : unreleased_)
    all.emplace_back(name, wanted(*parts_.slots.find(name)));
  return all;
}

// Released means that nobody in this process, and no child, holds any of it. A child between fork
// and exec, or one that is itself a member, lets go on its own.
void Switching::looked(std::uint64_t operation, std::vector<std::string> holders) {
  if (operation != order_.operation || unreleased_.empty()) return;
  report_.other_holders = std::move(holders);
  look_again_at_ = context_.now + kLookForHoldersEvery;
  if (report_.other_holders.empty() || context_.now >= release_deadline_) unreleased_.clear();
  tick();
}

Wanted Switching::out_of_use() const {
  Wanted all;
  for (const auto& slot : parts_.slots.all()) {
    if (!slot->open() && own().excluded(slot->name()) && slot->held.any())
      all.emplace_back(slot->name(), wanted(*slot));
  }
  return all;
}

// A ladder that began meanwhile looks for itself.
void Switching::found(const Wanted& wanted, std::vector<std::string> holders) {
  if (!at_rest()) return;
  std::erase_if(report_.other_holders, [&](const std::string& holder) {
    return std::ranges::any_of(
        wanted, [&](const auto& each) { return holder.starts_with(each.first + ": "); });
  });
  report_.other_holders.insert(report_.other_holders.end(), holders.begin(), holders.end());
}

// Closes the endpoints that a pair no longer uses, if the routing has taken their transport out of
// use for it: a pair that cannot use what it should move to stays on what it should leave. If the
// peer may still use what we do not (its device is back, a hold kept it from moving), that stays.
void Switching::close_moved_pairs() noexcept {
  parts_.peers.for_each_met([&](Peer& peer) {
    const RoutingView routing = parts_.peers.view(peer, in_force());
    const std::vector<std::string> usable = permitted(routing, parts_.peers.reachable(peer));
    for (auto& path : peer.paths) {
      const std::string& name = path->slot.name();
      const bool out_of_use =
          routing.excluded(name) ||
          (routing.moved(name) != nullptr && std::ranges::find(usable, name) == usable.end());
      if (path->open() && path.get() != peer.send_path && out_of_use && path->given_up() &&
          peer.process != context_.config.process)
        path->close();
    }
  });
}

}  // namespace livebtl::core
