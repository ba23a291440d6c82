// SPDX-License-Identifier: BSD-3-Clause
// core/engine/engine_core.cc -- see engine_core.h.
#include "core/engine/engine_core.h"

#include <poll.h>

#include "base/log.h"
#include "base/transport_name.h"

namespace livebtl::core {

namespace {
constexpr std::uint32_t kBoxRounds =
    8;  // while fast boxes are busy, one round in this many serves everything else
// Reading the clock costs as much as an empty round. But where a program computes between its
// calls, whatever depends on time (new connections, deadlines) would wait for every 64th of them:
// there the clock is read more often.
constexpr std::uint32_t kRoundsPerClockMax = 64;
constexpr TimeNs kClockOld = 20 * kMillisecond;
}  // namespace

EngineCore::EngineCore(EngineConfig config)
    : core_(std::move(config), this),
      presence_(core_.context.config.settings.away_us * kMicrosecond,
                core_.context.config.sets_timers) {
  core_.context.now = core_.context.config.now();
}

EngineCore::~EngineCore() {
  const Guard guard(core_);
  core_.bml.shut_down();
}

Status EngineCore::open_transports() {
  const Guard guard(core_);
  std::string reasons, excluded;
  std::size_t open_count = 0;
  if (!presence_.usable() || !bell_.usable())
    return fail(Errc::kNoMemory, "no descriptor for the engine's timer; raise ulimit -n");
  for (const TransportKind& kind : core_.context.config.kinds) {
    // A process that joins in mid-ladder opens what either end of the ladder needs, as others have.
    if (!core_.switching.accepts(kind.name)) {
      excluded += (excluded.empty() ? "" : ", ") + kind.name;
      continue;
    }
    if (const auto opened = core_.bml.slots.open(kind.name); opened) {
      ++open_count;
    } else {
      const std::string why(without_name(opened.error().text, kind.name));
      // "+verbs" is for jobs some of whose nodes have no device.
      const bool wherever_it_is = core_.context.config.settings.transports_beside_default;
      log(wherever_it_is ? LogLevel::kInfo : LogLevel::kWarn, "engine",
          "transport %s is not available: %s", kind.name.c_str(), why.c_str());
      reasons += " " + kind.name + ": " + why + ";";
      core_.returning.note_missing(*core_.bml.slots.find(kind.name), opened.error().text);
    }
  }
  if (open_count > 0) return {};
  if (reasons.empty()) {
    return fail(Errc::kUnreachable,
                "no transport is left to open: " + excluded +
                    " are excluded; name fewer in LIVEBTL_EXCLUDE, or, if the job runs already, "
                    "bring one back first (btlctl add)");
  }
  return fail(Errc::kUnreachable, "no transport could be opened:" + reasons);
}

// Moves everything. Bounded: at most frames_max frames in, 256 KiB of placed data per peer out.
template <bool kLooks>
std::size_t EngineCore::move_all(std::size_t frames_max) noexcept {
  std::size_t moved = core_.receiver.poll_boxes();
  if (moved != 0 && ++box_rounds_ % kBoxRounds != 0) {
    core_.bml.slots.note_traffic();
    return moved + core_.sender.flush_all();
  }
  moved += core_.bml.slots.progress(frames_max);
  core_.bml.tidy();
  moved += core_.sender.flush_all();
  if constexpr (kLooks) look_for_rung();
  return moved;
}

std::size_t EngineCore::progress_locked(std::size_t frames_max) noexcept {
  return move_all<true>(frames_max);
}

// The caller looks for the rung afterwards, before it lets the engine rest.
std::size_t EngineCore::move_frames(std::size_t frames_max) noexcept {
  return move_all<false>(frames_max);
}

void EngineCore::keep_time() noexcept {
  core_.context.now = core_.context.config.now();
  if (core_.context.now - housekept_ < kMillisecond) return;
  housekept_ = core_.context.now;
  core_.bml.housekeeping();
  give_back_kept();
  core_.returning.keep_time();
  core_.hold.keep_time();
  page_.keep_time(core_.context.now);
}

void EngineCore::keep_time_here() noexcept {
  keep_time();
  presence_.here(core_.context.now);
}

// The agent sleeps, and does not know what this call may leave to be done.
void EngineCore::on_entry() noexcept {
  armed_.store(false, std::memory_order_relaxed);
  presence_.returned(core_.context.config.now());
  rounds_ = rounds_per_clock_;
}

void EngineCore::look_at_clock() noexcept {
  rounds_ = 0;
  const TimeNs before = core_.context.now;
  keep_time_here();
  const bool old = core_.context.now - before > kClockOld;
  rounds_per_clock_ = old ? 1 : std::min(2 * rounds_per_clock_, kRoundsPerClockMax);
}

void EngineCore::leave() noexcept {
  const Guard guard(core_);
  presence_.leave(core_.context.config.now());
}

std::size_t EngineCore::progress() noexcept {
  std::size_t moved = 0;
  {
    const Guard guard(core_);
    if (++rounds_ >= rounds_per_clock_) look_at_clock();
    moved = progress_locked(kFramesPerTurn);
    if (!core_.ports.active_waiting() && core_.context.events.empty()) [[likely]]
      return moved;
  }
  deliver_events();
  return moved + run_active_handlers();
}

// Called without the lock: handlers may call the engine.
std::size_t EngineCore::run_active_handlers() {
  std::size_t count = 0;
  for (;;) {
    std::optional<std::pair<PortState::PendingActive, ActiveHandler>> next;
    {
      const Guard guard(core_);
      next = core_.ports.take_active();
      if (!next) return count;
      core_.receiver.give_back(*next->first.peer, next->first.payload.size(), 1);
    }
    auto& [pending, handler] = *next;
    pending.message.payload = pending.payload;
    if (handler) handler(pending.message);
    ++count;
  }
}

void EngineCore::deliver_events() {
  std::deque<EngineEvent> events;
  std::function<void(const EngineEvent&)> call;
  {
    const Guard guard(core_);
    events = core_.context.events.take();
    call = event_call_;
  }
  if (!call) return;
  for (const EngineEvent& event : events) call(event);
}

void EngineCore::wait(std::int64_t timeout_ns) noexcept {
  struct Present {
    explicit Present(std::atomic<int>& threads) noexcept : count(threads) { ++count; }
    ~Present() { --count; }
    std::atomic<int>& count;
  } const present(waiting_);
  std::vector<pollfd> polled{{bell_.fd(), POLLIN, 0}};
  {
    const Guard guard(core_);
    keep_time_here();
    core_.bml.slots.welcome_all();
    // The agent will not announce again what it moved since the caller's last look.
    if (agent_moved_.exchange(false) || progress_locked(kFramesPerTurn) != 0) return;
    for (auto& slot : core_.bml.slots.all()) {
      if (!slot->open()) continue;
      if (!slot->transport->arm()) return;
      if (slot->transport->wait_fd() >= 0)
        polled.push_back({slot->transport->wait_fd(), POLLIN, 0});
    }
    if (core_.boxes.waiting() || timeout_ns == 0) return;  // boxes are checked after arm()
  }
  // A doorbell may be missed, and a path may need its timers: sleeps for a millisecond at most.
  const std::int64_t at_most_ns =
      timeout_ns < 0 ? kMillisecond : std::min(timeout_ns, kMillisecond);
  const timespec at_most{0, static_cast<long>(at_most_ns)};
  ::ppoll(polled.data(), polled.size(), &at_most, nullptr);
  if (polled.front().revents == 0) return;
  bell_.silence();
  agent_moved_.store(false);
}

Result<std::unique_ptr<Port>> EngineCore::open_port(const PortOptions& options) {
  const Guard guard(core_);
  return CorePort::open(core_, owner_.lock(), options);
}

Result<Destination> EngineCore::peer(const Address& address) {
  const Guard guard(core_);
  return core_.bml.peers.resolve(address);
}

Address EngineCore::address_of(const Destination& destination) const noexcept {
  const Guard guard(core_);
  return core_.bml.peers.address_of(destination.peer->process, destination.port,
                                    destination.peer->addresses);
}

int EngineCore::add_waker(std::function<void()> signal) {
  const std::lock_guard lock(wakers_mutex_);
  wakers_.emplace(next_waker_, std::move(signal));
  return next_waker_++;
}

// In a forked child, the agent's thread, which does not exist there, may hold the mutex.
void EngineCore::remove_waker(int id) noexcept {
  if (core_.lock.in_child()) return;
  const std::lock_guard lock(wakers_mutex_);
  wakers_.erase(id);
}

bool EngineCore::has_wakers() noexcept {
  const std::lock_guard lock(wakers_mutex_);
  return !wakers_.empty();
}

void EngineCore::wake_waiters() noexcept {
  if (waiting_.load() != 0) bell_.ring();
  const std::lock_guard lock(wakers_mutex_);
  for (const auto& [id, signal] : wakers_) signal();
}

void EngineCore::on_event(std::function<void(const EngineEvent&)> call) {
  const Guard guard(core_);
  event_call_ = std::move(call);
}

}  // namespace livebtl::core
