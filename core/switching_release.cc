// SPDX-License-Identifier: BSD-3-Clause
// core/switching_release.cc -- of switching.h: what is closed at the ends of a ladder, and the
// proof that nobody in this process, and no child, holds any of it.
#include "core/core.h"
#include "core/switching.h"

namespace livebtl::core {

namespace {
constexpr TimeNs kLookForHoldersEvery = 20 * kMillisecond;
constexpr TimeNs kHoldersPatience = 250 * kMillisecond;
}  // namespace

void Switching::begin_release() noexcept {
  closed_.clear();
  look_again_at_ = 0;
  patience_ends_ = core_.now + kHoldersPatience;
}

// Transports that the routing now in force excludes. Their pairs were drained by the rungs before.
void Switching::close_dropped() noexcept {
  const Routing& routing = order_.rung == Rung::kNew ? order_.after : order_.before;
  close_moved_pairs();
  close_unwanted(routing);
}

void Switching::close_unwanted(const Routing& routing) noexcept {
  for (const auto& slot : core_.bml.slots()) {
    const std::string& name = slot->name();
    if (!own(routing).excluded(name)) continue;
    core_.returning.forget(*slot);
    if (!slot->open()) continue;
    slot->held = Holdings::of(*slot->transport, slot->kind.devices);
    core_.bml.close_transport(name);
    closed_.push_back(name);
  }
}

// Released means that nobody in this process, and no child, holds any of it. A child between fork
// and exec, or one that is a member itself, lets go by itself.
bool Switching::let_go() noexcept {
  if (closed_.empty()) return true;
  if (core_.now < look_again_at_) return false;
  report_.foreign.clear();
  for (const std::string& name : closed_) {
    const Holdings& held = core_.bml.find_slot(name)->held;
    for (const std::string& holder : held.held()) report_.foreign.push_back(name + ": " + holder);
    for (const std::string& left : held.still_pinned())
      report_.foreign.push_back(name + ": " + left);
  }
  look_again_at_ = core_.now + kLookForHoldersEvery;
  if (!report_.foreign.empty() && core_.now < patience_ends_) return false;
  closed_.clear();
  return true;
}

std::vector<std::pair<std::string, Holdings>> Switching::released() const {
  std::vector<std::pair<std::string, Holdings>> all;
  for (const auto& slot : core_.bml.slots()) {
    if (!slot->open() && own().excluded(slot->name()) && slot->held.any())
      all.emplace_back(slot->name(), slot->held);
  }
  return all;
}

void Switching::found(std::vector<std::string> holders) {
  if (at_rest()) report_.foreign = std::move(holders);
}

// The endpoints that a pair no longer uses are closed, where the routing took their transport out
// of use for it: a pair that cannot use what it should move to stays on what it should leave. The
// peer may still use what we do not (its device is back, a hold kept it from moving): then it
// stays.
void Switching::close_moved_pairs() noexcept {
  core_.bml.for_each_peer([&](Peer& peer) {
    const RoutingView routing = core_.bml.view(peer, in_force());
    const std::vector<std::string> usable = permitted(routing, core_.bml.reachable(peer));
    for (auto& path : peer.paths) {
      const std::string& name = path->slot.name();
      const bool out_of_use =
          routing.excluded(name) ||
          (routing.moved(name) != nullptr && std::ranges::find(usable, name) == usable.end());
      if (path->open() && path.get() != peer.send_path && out_of_use && path->given_up() &&
          peer.process != core_.config.process)
        core_.bml.close_path(*path);
    }
  });
}

}  // namespace livebtl::core
