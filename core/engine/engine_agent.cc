// SPDX-License-Identifier: BSD-3-Clause
// core/engine/engine_agent.cc -- what the agent asks of the engine: orders, where it stands, a turn when
// the application is away. The agent's thread, under the engine's lock.
#include "core/engine/engine_core.h"

namespace livebtl::core {

namespace {
// How long the agent of an idle process sleeps at most between two polls: bells wake it anyhow, and
// a node may have more processes than it has processors to look with.
constexpr std::int64_t kQuietSleepMax = 10 * kMillisecond;
}  // namespace

void EngineCore::submit(const RungOrder& order) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.context.now = core_.context.config.now();
  core_.switching.order(order);
  progress_locked(kFramesPerTurn);
  note_at_work();
}

void EngineCore::note_at_work() noexcept {
  at_work_.store(core_.switching.at_work() || core_.hold.at_work(), std::memory_order_relaxed);
}

template <class Act>
HoldReport EngineCore::with_hold(Act act) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.context.now = core_.context.config.now();
  core_.hold.keep_time();
  return act(core_.hold);
}

template <class Act>
HoldReport EngineCore::change_hold(Act act) {
  return with_hold([&](Hold& hold) {
    HoldReport report = act(hold);
    progress_locked(kFramesPerTurn);
    note_at_work();
    return report;
  });
}

HoldReport EngineCore::hold(const HoldOrder& order) {
  return with_hold([&](Hold& hold) {
    const HoldReport started = hold.start(order);
    progress_locked(kFramesPerTurn);
    note_at_work();
    return started.refusal.empty() ? hold.report() : started;
  });
}

HoldReport EngineCore::end_hold(std::uint64_t id) {
  return change_hold([&](Hold& hold) { return hold.end(id); });
}

HoldReport EngineCore::hold_report() {
  return with_hold([](const Hold& hold) { return hold.report(); });
}

HoldReport EngineCore::claim_hold(std::uint64_t id, TimeNs lease) {
  return with_hold([&](Hold& hold) { return hold.claim(id, lease); });
}

HoldReport EngineCore::restore(std::uint64_t id, Incarnation to) {
  return change_hold([&](Hold& hold) { return hold.restore(id, to); });
}

RungReport EngineCore::report() {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
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
}

void EngineCore::look_after_release(std::uint64_t operation, const Wanted& wanted) {
  auto holders = holders_of(wanted);
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  keep_time();
  core_.switching.looked(operation, std::move(holders));
  note_at_work();
}

RoutingPlan EngineCore::plan(const Routing& routing) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  return core_.switching.plan(routing);
}

void EngineCore::adopt(const RungOrder& standing) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.switching.adopt(standing);
}

void EngineCore::on_report(std::function<void()> signal) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.context.control_signal = std::move(signal);
}

void EngineCore::publish_relay(const std::string& relay) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.bml.slots.publish_relay(relay);
}

std::vector<std::string> EngineCore::relays() {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  return core_.bml.peers.relays();
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
}

// What a connection that is still open has to say is heard first.
void EngineCore::proved_dead(ProcessId process) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  Peer* peer = core_.bml.unreached.find(process);
  if (peer != nullptr && !peer->connected())
    core_.bml.losses.lose_peer(*peer, "its process has ended");
}

EngineCore::Turn EngineCore::take_turn() {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  keep_time();
  Turn turn;
  turn.moved = progress_locked(kFramesPerTurn);
  if (turn.moved != 0) agent_moved_.store(true);
  const bool pending = core_.bml.peers.work_pending();
  turn.idle = !core_.bml.any_path() && !pending;
  note_at_work();
  const bool armed = turn.moved == 0 && !turn.idle && arm_transports();
  turn.quiet = armed && !pending && !at_work_.load(std::memory_order_relaxed);
  turn.operation = core_.switching.report().operation;
  turn.to_look_for = core_.switching.to_look_for();
  return turn;
}

// in: the application may or may not be calling. out: if it is not, or there is an order, the
// engine has moved.
std::int64_t EngineCore::agent_turn() {
  const std::uint64_t calls = calls_.load(std::memory_order_relaxed);
  // A thread that sleeps in wait() polls by itself; were the agent to move the engine meanwhile, it
  // would take the bell that is to wake that thread.
  away_ = calls == calls_seen_ && waiting_.load(std::memory_order_relaxed) == 0;
  calls_seen_ = calls;
  const std::int64_t look_again = core_.context.config.settings.away_us * kMicrosecond;
  const bool at_work = at_work_.load(std::memory_order_relaxed);
  if (!away_ && !at_work) return quiet_sleep_ = look_again;
  const Turn turn = take_turn();
  if (!turn.to_look_for.empty()) look_after_release(turn.operation, turn.to_look_for);
  const std::int64_t longest = std::max(look_again, kQuietSleepMax);
  quiet_sleep_ = turn.quiet ? std::clamp(2 * quiet_sleep_, look_again, longest) : look_again;
  if (turn.moved != 0) {
    wake_waiters();
    return 0;
  }
  return turn.idle ? 100 * kMillisecond : quiet_sleep_;
}

// true: each will ring when there is work.
bool EngineCore::arm_transports() noexcept {
  bool armed = true;
  for (auto& slot : core_.bml.slots.all()) {
    if (slot->open() && !slot->transport->arm()) armed = false;
  }
  return armed && !core_.boxes.waiting();
}

// While the application calls in, its own polling finds what comes: the agent must not be woken by
// each frame.
std::vector<int> EngineCore::wait_fds() {
  std::vector<int> fds;
  if (!away_) return fds;
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  for (auto& slot : core_.bml.slots.all()) {
    if (slot->open() && slot->transport->wait_fd() >= 0) fds.push_back(slot->transport->wait_fd());
  }
  return fds;
}

}  // namespace livebtl::core
