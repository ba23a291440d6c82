// SPDX-License-Identifier: BSD-3-Clause
// core/engine/engine_agent.cc -- what the control plane asks of the engine: orders and reports. On
// the agent's thread, under the engine's lock. The agent's turns are in engine_turn.cc.
#include "core/engine/engine_core.h"

namespace livebtl::core {

// Takes the lock once: an application that shares its processor may hold it for a time slice.
RungReport EngineCore::submit(const RungOrder& order) {
  std::size_t moved = 0;
  RungReport report;
  {
    const Guard guard(core_, BiasedLock::Caller::kAgent);
    core_.context.now = core_.context.config.now();
    core_.switching.order(order);
    expect_work();
    moved = move();
    look_at_ = core_.switching.look_due_at();
    report = report_locked();
  }
  if (moved != 0) wake_waiters();
  return report;
}

// Between rungs a ladder waits for other members, which may need an answer of ours to reach theirs.
void EngineCore::note_ladder() noexcept {
  in_ladder_.store(!core_.switching.at_rest() || core_.hold.parks(), std::memory_order_relaxed);
}

template <class Act>
HoldReport EngineCore::with_hold(Act act) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.context.now = core_.context.config.now();
  core_.hold.keep_time();
  submitted();
  return act(core_.hold);
}

template <class Act>
HoldReport EngineCore::change_hold(Act act) {
  return with_hold([&](Hold& hold) {
    HoldReport report = act(hold);
    progress_locked(kFramesPerTurn);
    note_ladder();
    return report;
  });
}

HoldReport EngineCore::hold(const HoldOrder& order) {
  return with_hold([&](Hold& hold) {
    const HoldReport started = hold.start(order);
    progress_locked(kFramesPerTurn);
    note_ladder();
    return started.refusal.empty() ? hold.report() : started;
  });
}

HoldReport EngineCore::end_hold(std::uint64_t id) {
  return change_hold([&](Hold& hold) { return hold.end(id); });
}

HoldReport EngineCore::hold_report() {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.context.now = core_.context.config.now();
  core_.hold.keep_time();
  return core_.hold.report();
}

HoldReport EngineCore::claim_hold(const HoldClaim& claim, TimeNs lease) {
  return with_hold([&](Hold& hold) { return hold.claim(claim, lease); });
}

HoldReport EngineCore::restore(const HoldClaim& claim, Incarnation to) {
  return change_hold([&](Hold& hold) {
    const Incarnation before = core_.context.fence.own();
    HoldReport report = hold.restore(claim, to);
    if (core_.context.fence.own() != before) core_.bml.slots.relocated();
    return report;
  });
}

RungReport EngineCore::report() {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  return report_locked();
}

RungReport EngineCore::report_locked() {
  note_ladder();  // the application may have finished the ladder
  RungReport report = core_.switching.report();
  report.absent = core_.returning.absent();
  return report;
}

// /proc is read without the lock: the application goes on meanwhile.
void EngineCore::look_for_holders() {
  Wanted wanted;
  {
    const Guard guard(core_, BiasedLock::Caller::kAgent);
    wanted = core_.switching.out_of_use();
  }
  auto holders = holders_of(wanted);
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.switching.found(wanted, std::move(holders));
  submitted();
}

void EngineCore::look_after_release(std::uint64_t operation, const Wanted& wanted) {
  auto holders = holders_of(wanted);
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  keep_time();
  core_.switching.looked(operation, std::move(holders));
  note_ladder();
  submitted();
}

RoutingPlan EngineCore::plan(const Routing& routing) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  return core_.switching.plan(routing);
}

void EngineCore::adopt(const RungOrder& standing) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.switching.adopt(standing);
  submitted();
}

void EngineCore::on_report(std::function<void()> signal) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.context.control_signal = std::move(signal);
}

void EngineCore::publish_relay(const std::string& relay) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.bml.slots.publish_relay(relay);
  submitted();
}

std::vector<std::string> EngineCore::relays() {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  return core_.bml.peers.relays();
}

void EngineCore::learn_relays(const std::vector<std::string>& relays) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.bml.peers.learn_relays(relays);
}

void EngineCore::show_on(EnginePageLatch* page) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.context.now = core_.context.config.now();
  page_.show_on(page);
}

Contacts EngineCore::contacts() {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  return core_.bml.slots.contacts();
}

std::vector<ProcessId> EngineCore::unreached() {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  return core_.bml.unreached.list();
}

void EngineCore::introduce(ProcessId peer, const Contacts& addresses) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.bml.unreached.introduce(peer, addresses);
  submitted();
}

// What a connection that is still open has to say comes first.
void EngineCore::proved_dead(ProcessId process) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  Peer* peer = core_.bml.unreached.find(process);
  if (peer != nullptr && !peer->connected())
    core_.bml.losses.lose_peer(*peer, "its process has ended");
  submitted();
}

// What the agent has changed by its call may require a turn, or other deadlines.
void EngineCore::submitted() noexcept {
  submitted_ = true;
  expect_work();
}

void EngineCore::expect_work() noexcept {
  armed_.store(false, std::memory_order_relaxed);
  presence_.expect_work(core_.context.config.now());
  if (waiting_.load(std::memory_order_relaxed) != 0)
    bell_.ring();  // what those threads sleep for may have changed
}

}  // namespace livebtl::core
