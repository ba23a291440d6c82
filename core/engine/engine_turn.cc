// SPDX-License-Identifier: BSD-3-Clause
// core/engine/engine_turn.cc -- the agent's turn when the application is away, and how long the
// agent may sleep then. On the agent's thread, under the engine's lock except to decide that there
// is nothing to do.
//
// Between turns the agent sleeps without a time-out of its own. It is woken by a message from the
// control plane, by the timer of presence.h when the application has gone, and, while the
// application is away, by a transport's descriptor or the first deadline of any part (due_at()).
#include <poll.h>

#include <algorithm>

#include "core/engine/engine_core.h"

namespace livebtl::core {

namespace {
// The longest pause between tries, for instance at a ring that is full while its reader rests.
constexpr TimeNs kRetryPauseMax = 10 * kMillisecond;
// What one round leaves undone, such as a dial that a rung asks for, the next does before any
// pause.
constexpr int kTriesToSleep = 3;
// While frames keep coming. Between two turns the application may take the lock.
constexpr int kTurnsAtOnce = 4;
// A turn that has moved something looks again at once, as two turns cost more than two rounds of
// one; at most this often and this long.
constexpr int kRoundsATurn = 8;
constexpr TimeNs kRoundsTime = 50 * kMicrosecond;
}  // namespace

// A thread that sleeps in wait() polls by itself; if the agent moved the engine meanwhile, it would
// take the bell that is to wake that thread.
bool EngineCore::application_away(TimeNs now) const noexcept {
  return waiting_.load(std::memory_order_relaxed) == 0 && presence_.away(now);
}

// Must the agent get the engine, whoever is in it now? Of a rung's work, only for what the
// application cannot do: its progress loop sees the order, and carries it on.
bool EngineCore::must_enter(TimeNs now) const noexcept { return submitted_ || now >= look_at_; }

// A false alarm in mid-ladder says nothing about the next absence, which may have work for a rung.
void EngineCore::not_away(TimeNs now) noexcept {
  presence_.extend(now, in_ladder_.load(std::memory_order_relaxed));
}

// Decided without the lock, so that looking costs the application nothing.
bool EngineCore::wants_turn(TimeNs now) noexcept {
  if (must_enter(now)) return true;
  if (waiting_.load(std::memory_order_relaxed) != 0) not_away(now);
  if (!application_away(now)) return false;
  if (!armed_.load(std::memory_order_relaxed) || now >= due_at_) return true;
  std::vector<pollfd> polled;
  for (const int fd : armed_fds_) polled.push_back({fd, POLLIN, 0});
  return ::poll(polled.data(), polled.size(), 0) > 0;
}

// true: the agent holds the lock. For an order it waits; otherwise the holder is the application,
// which is therefore not away.
bool EngineCore::enter_for_turn(TimeNs now) noexcept {
  if (core_.lock.try_lock(BiasedLock::Caller::kAgent)) return true;
  if (must_enter(now)) {
    core_.lock.lock(BiasedLock::Caller::kAgent);
    return true;
  }
  presence_.busy(now, in_ladder_.load(std::memory_order_relaxed));
  return false;
}

EngineCore::Turn EngineCore::take_turn() {
  const Guard guard(core_, std::adopt_lock);
  keep_time();
  Turn turn;
  submitted_ = false;
  turn.moved = move();
  turn.operation = core_.switching.report().operation;
  turn.to_look_for = core_.switching.to_look_for();
  look_at_ = turn.to_look_for.empty() ? core_.switching.look_due_at() : kNoDeadline;
  return turn;
}

std::size_t EngineCore::move() noexcept {
  const bool away = application_away(core_.context.now);
  const std::size_t moved = away ? move_for_absent() : progress_locked(kFramesPerTurn);
  if (!away) page_.before_sleep(core_.context.now, moved != 0);
  if (moved != 0) agent_moved_.store(true);
  note_ladder();
  return moved;
}

// Whatever the application does next, it enters the lock first, and on_entry() sees it.
std::size_t EngineCore::move_for_absent() noexcept {
  // Threads to be woken depend on every turn; so do peers that have yet to meet this process.
  presence_.attend(core_.context.now, has_wakers() || !core_.bml.any_path(),
                   in_ladder_.load(std::memory_order_relaxed));
  const std::uint64_t before = core_.sender.queued_posted();
  std::size_t moved = 0;
  bool armed = false;
  int tries = 0;
  for (int i = 0; i < kRoundsATurn && tries < kTriesToSleep && !armed && may_go_on(moved); ++i) {
    const std::size_t frames = move_frames(kFramesPerTurn);
    moved += frames;
    if (frames != 0) {
      look_between_frames();
      continue;
    }
    page_.before_sleep(core_.context.now, moved != 0);
    armed = prepare_sleep();
    ++tries;
  }
  if (core_.sender.queued_posted() != before) presence_.answered();
  armed_.store(armed, std::memory_order_relaxed);
  core_.lock.watch_entry();
  return moved;
}

bool EngineCore::may_go_on(std::size_t moved) const noexcept {
  return moved == 0 ||
         (!core_.lock.contended() && core_.context.config.now() - core_.context.now < kRoundsTime);
}

// A rung is looked for once nothing moves any more, so that frames that come together share one
// look. Frames that never end do not delay it.
void EngineCore::look_between_frames() noexcept {
  if (unlooked_since_ == 0) unlooked_since_ = core_.context.now;
  if (core_.context.now - unlooked_since_ < kMillisecond) return;
  unlooked_since_ = core_.context.now;
  look_for_rung();
}

void EngineCore::give_back_kept() noexcept {
  if (!core_.receiver.keeps_credit()) return;
  bool kept = false;
  core_.bml.peers.for_each_met([&](Peer& peer) {
    core_.receiver.give_back_kept(peer);
    kept = kept || peer.rx.keeps_credit;
  });
  if (!kept) core_.receiver.all_given_back();
}

// true: there is nothing to do before due_at_, unless a descriptor in armed_fds_ shows something.
bool EngineCore::prepare_sleep() noexcept {
  give_back_kept();
  core_.bml.acknowledge();
  core_.sender.flush_all();
  core_.hold.keep_time();  // this turn's frames may have broken the hold
  // What was posted just now may have been the last thing that a rung waited for.
  unlooked_since_ = 0;
  look_for_rung();
  bool quiet = true;
  armed_fds_.clear();
  due_at_ = next_due();
  for (auto& slot : core_.bml.slots.all()) {
    if (!slot->open()) continue;
    quiet = slot->transport->arm() && quiet;
    due_at_ = std::min(due_at_, slot->transport->wake_at());
    if (slot->transport->wait_fd() >= 0) armed_fds_.push_back(slot->transport->wait_fd());
  }
  const bool waits = core_.boxes.waiting() || core_.bml.losses.pending() ||
                     core_.bml.tickets.pending() || core_.bml.dialler.pending() ||
                     core_.sender.pending();  // except hellos: Connector::due_at()
  return quiet && !waits && due_at_ > core_.context.now;
}

// Housekeeping is done at most once a millisecond.
TimeNs EngineCore::next_due() noexcept {
  const TimeNs due =
      std::min({core_.bml.due_at(), core_.returning.due_at(), core_.hold.due_at(), page_.due_at()});
  return due == kNoDeadline ? due : std::max(due, housekept_ + kMillisecond);
}

// in: the agent is awake, for whatever reason. out: the engine has been moved if the application is
// away and there was something to do, or if there is an order.
std::int64_t EngineCore::agent_turn() {
  TimeNs now = core_.context.config.now();
  for (int i = 0; i < kTurnsAtOnce; ++i) {
    if (!wants_turn(now) || !enter_for_turn(now)) return time_to_sleep(now);
    const Turn turn = take_turn();
    if (!turn.to_look_for.empty()) look_after_release(turn.operation, turn.to_look_for);
    now = core_.context.config.now();
    if (turn.moved != 0) {
      retry_pause_ = 0;
      wake_waiters();
    }
    if (turn.moved == 0 || armed_.load(std::memory_order_relaxed)) return time_to_sleep(now);
  }
  return 0;
}

std::int64_t EngineCore::time_to_sleep(TimeNs now) noexcept {
  if (submitted_) return 0;
  const TimeNs look = look_at_ == kNoDeadline ? -1 : std::max<TimeNs>(look_at_ - now, 0);
  if (!application_away(now)) return look;  // the timer that it puts off also wakes the agent
  if (armed_.load(std::memory_order_relaxed)) {
    retry_pause_ = 0;
    const TimeNs due = std::min(due_at_, look_at_);
    return due == kNoDeadline ? -1 : std::max<TimeNs>(due - now, 0);
  }
  const TimeNs away = core_.context.config.settings.away_us * kMicrosecond;
  retry_pause_ = std::clamp(2 * retry_pause_, away, std::max(away, kRetryPauseMax));
  return look < 0 ? retry_pause_ : std::min(look, retry_pause_);
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
