// SPDX-License-Identifier: BSD-3-Clause
// core/engine/engine_agent.cc -- what the agent asks of the engine: orders, where it stands, a turn when
// the application is away. The agent's thread, under the engine's lock but where it decides that there is
// nothing to do.
//
// Between turns the agent sleeps without a time-out of its own. It is woken by a message of the control plane,
// by the timer of presence.h, which says that the application has gone, and while that is away by a descriptor
// of a transport or the first deadline of any part (due_at()).
#include <poll.h>

#include <algorithm>

#include "core/engine/engine_core.h"

namespace livebtl::core {

namespace {
// From try to try, at most: a ring that is full while its reader rests, for instance.
constexpr TimeNs kRetryPauseMax = 10 * kMillisecond;
}  // namespace

void EngineCore::submit(const RungOrder& order) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.context.now = core_.context.config.now();
  core_.switching.order(order);
  progress_locked(kFramesPerTurn);
  note_at_work();
  submitted();
}

void EngineCore::note_at_work() noexcept {
  at_work_.store(core_.switching.at_work() || core_.hold.at_work(), std::memory_order_relaxed);
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
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.context.now = core_.context.config.now();
  core_.hold.keep_time();
  return core_.hold.report();
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
  submitted();
}

void EngineCore::look_after_release(std::uint64_t operation, const Wanted& wanted) {
  auto holders = holders_of(wanted);
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  keep_time();
  core_.switching.looked(operation, std::move(holders));
  note_at_work();
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

// What a connection that is still open has to say is heard first.
void EngineCore::proved_dead(ProcessId process) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  Peer* peer = core_.bml.unreached.find(process);
  if (peer != nullptr && !peer->connected())
    core_.bml.losses.lose_peer(*peer, "its process has ended");
  submitted();
}

// What the agent's last call from above has changed may want a turn, or other deadlines.
void EngineCore::submitted() noexcept {
  submitted_ = true;
  armed_.store(false, std::memory_order_relaxed);
  presence_.expect_work(core_.context.config.now());
}

// A thread that sleeps in wait() polls by itself; were the agent to move the engine meanwhile, it would take the
// bell that is to wake that thread.
bool EngineCore::application_away(TimeNs now) const noexcept {
  return waiting_.load(std::memory_order_relaxed) == 0 && presence_.away(now);
}

// Decided without the lock: to look costs the application nothing.
bool EngineCore::wants_turn(TimeNs now) noexcept {
  if (at_work_.load(std::memory_order_relaxed) || submitted_) return true;
  if (waiting_.load(std::memory_order_relaxed) != 0) presence_.extend(now);
  if (!application_away(now)) return false;
  if (!armed_.load(std::memory_order_relaxed) || now >= due_at_) return true;
  std::vector<pollfd> polled;
  for (const int fd : armed_fds_) polled.push_back({fd, POLLIN, 0});
  return ::poll(polled.data(), polled.size(), 0) > 0;
}

// true: the lock is the agent's. For an order it waits; else whoever holds the lock is the application, which is
// not away then.
bool EngineCore::enter_for_turn(TimeNs now) noexcept {
  if (core_.lock.try_lock(BiasedLock::Caller::kAgent)) return true;
  if (at_work_.load(std::memory_order_relaxed) || submitted_) {
    core_.lock.lock(BiasedLock::Caller::kAgent);
    return true;
  }
  presence_.extend(now);
  return false;
}

EngineCore::Turn EngineCore::take_turn() {
  const Guard guard(core_, std::adopt_lock);
  keep_time();
  Turn turn;
  submitted_ = false;
  if (application_away(core_.context.now)) {
    move_for_absent(turn);
  } else {
    turn.moved = progress_locked(kFramesPerTurn);
    page_.before_sleep(core_.context.now, turn.moved != 0);
  }
  if (turn.moved != 0) agent_moved_.store(true);
  note_at_work();
  turn.operation = core_.switching.report().operation;
  turn.to_look_for = core_.switching.to_look_for();
  return turn;
}

// Whatever the application does next, it enters first.
void EngineCore::move_for_absent(Turn& turn) noexcept {
  // Threads that are to be woken count on every turn, and so do peers that have not met this process yet.
  presence_.attend(core_.context.now, has_wakers() || !core_.bml.any_path());
  const std::uint64_t before = core_.sender.queued_posted();
  turn.moved = progress_locked(kFramesPerTurn);
  if (core_.sender.queued_posted() != before) presence_.answered();
  page_.before_sleep(core_.context.now, turn.moved != 0);
  armed_.store(turn.moved == 0 && prepare_sleep(), std::memory_order_relaxed);
  core_.lock.watch_entry();
}

// true: until due_at_ there is nothing to do, unless a descriptor of armed_fds_ shows something.
bool EngineCore::prepare_sleep() noexcept {
  core_.bml.acknowledge();
  core_.sender.flush_all();
  core_.hold.keep_time();  // the frames of this turn may have broken it
  bool quiet = true;
  armed_fds_.clear();
  due_at_ = next_due();
  for (auto& slot : core_.bml.slots.all()) {
    if (!slot->open()) continue;
    quiet = slot->transport->arm() && quiet;
    due_at_ = std::min(due_at_, slot->transport->wake_at());
    if (slot->transport->wait_fd() >= 0) armed_fds_.push_back(slot->transport->wait_fd());
  }
  const bool waits = core_.boxes.waiting() || core_.bml.pending() || core_.sender.pending();
  return quiet && !waits && due_at_ > core_.context.now;
}

// Housekeeping is done at most once a millisecond.
TimeNs EngineCore::next_due() noexcept {
  const TimeNs due =
      std::min({core_.bml.due_at(), core_.returning.due_at(), core_.hold.due_at(), page_.due_at()});
  return due == kNoDeadline ? due : std::max(due, housekept_ + kMillisecond);
}

// in: awake, for whatever reason. out: the engine has moved if the application is away and there was something
// to do, or if there is an order.
std::int64_t EngineCore::agent_turn() {
  const TimeNs now = core_.context.config.now();
  if (!wants_turn(now) || !enter_for_turn(now)) return time_to_sleep(now);
  const Turn turn = take_turn();
  if (!turn.to_look_for.empty()) look_after_release(turn.operation, turn.to_look_for);
  if (turn.moved != 0) {
    retry_pause_ = 0;
    wake_waiters();
    return 0;
  }
  return time_to_sleep(core_.context.config.now());
}

std::int64_t EngineCore::time_to_sleep(TimeNs now) noexcept {
  const TimeNs away = core_.context.config.settings.away_us * kMicrosecond;
  if (at_work_.load(std::memory_order_relaxed) || submitted_) return away;
  if (!application_away(now)) return -1;  // the timer that it puts off tells
  if (armed_.load(std::memory_order_relaxed)) {
    retry_pause_ = 0;
    return due_at_ == kNoDeadline ? -1 : std::max<TimeNs>(due_at_ - now, 0);
  }
  return retry_pause_ = std::clamp(2 * retry_pause_, away, std::max(away, kRetryPauseMax));
}

// While the application calls in, its own polling finds what comes: the agent must not be woken by
// each frame.
std::vector<int> EngineCore::wait_fds() {
  std::vector<int> fds{presence_.fd()};
  const bool armed = armed_.load(std::memory_order_relaxed);
  if (armed && application_away(core_.context.config.now()))
    fds.insert(fds.end(), armed_fds_.begin(), armed_fds_.end());
  return fds;
}

}  // namespace livebtl::core
