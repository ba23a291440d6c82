// SPDX-License-Identifier: BSD-3-Clause
// core/engine_core.cc -- see engine_core.h.
#include "core/engine_core.h"

#include <poll.h>

#include "base/log.h"
#include "core/guard.h"

namespace livebtl::core {

namespace {
constexpr std::size_t kFramesPerTurn = 64;
constexpr std::uint32_t kRoundsPerClock = 64;  // reading the clock costs as much as an empty round
// How long the agent of an idle process sleeps at most between two looks: bells wake it anyhow, and
// a node may have more processes than it has processors to look with.
constexpr std::int64_t kQuietSleepMax = 10 * kMillisecond;
}  // namespace

EngineCore::EngineCore(EngineConfig config) : core_(std::move(config)) {
  core_.now = core_.config.now();
  core_.bml.add_kinds();
}

EngineCore::~EngineCore() {
  const Guard guard(core_);
  core_.bml.shut_down();
}

Status EngineCore::open_transports() {
  const Guard guard(core_);
  std::string reasons;
  std::size_t open_count = 0;
  for (const TransportKind& kind : core_.config.kinds) {
    if (core_.switching.in_force().excluded.contains(kind.name)) continue;
    if (const auto opened = core_.bml.open_transport(kind.name); opened) {
      ++open_count;
    } else {
      log(LogLevel::kWarn, "engine", "transport %s is not available: %s", kind.name.c_str(),
          opened.error().text.c_str());
      reasons += " " + kind.name + ": " + opened.error().text + ";";
    }
  }
  if (open_count == 0) return fail(Errc::kUnreachable, "no transport could be opened:" + reasons);
  return {};
}

void EngineCore::linger(TimeNs at_most) noexcept {
  const TimeNs until = core_.config.now() + at_most;
  for (;;) {
    {
      const Guard guard(core_);
      core_.now = core_.config.now();
      progress_locked(kFramesPerTurn);
      if (core_.bml.settled() || core_.now > until) {
        core_.bml.say_goodbye();
        progress_locked(kFramesPerTurn);
        return;
      }
      core_.bml.request_acks();
    }
    ::poll(nullptr, 0, 1);
  }
}

// Everything that moves. Bounded: at most frames_max frames in, 256 KiB of placed data a peer out.
std::size_t EngineCore::progress_locked(std::size_t frames_max) noexcept {
  std::size_t moved = core_.bml.progress_transports(frames_max);
  core_.bml.tidy();
  moved += core_.sender.flush_all();
  core_.switching.tick();
  return moved;
}

void EngineCore::keep_time() noexcept {
  core_.now = core_.config.now();
  if (core_.now - housekept_ < kMillisecond) return;
  housekept_ = core_.now;
  core_.bml.housekeeping();
}

std::size_t EngineCore::progress() noexcept {
  calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  std::size_t moved = 0;
  {
    const Guard guard(core_);
    if (++rounds_ >= kRoundsPerClock) {
      rounds_ = 0;
      keep_time();
    }
    moved = progress_locked(kFramesPerTurn);
    if (!core_.ports.active_waiting() && core_.events.empty()) [[likely]]
      return moved;
  }
  deliver_events();
  return moved + core_.ports.run_active_handlers();
}

void EngineCore::deliver_events() {
  std::deque<EngineEvent> events;
  std::function<void(const EngineEvent&)> call;
  {
    const Guard guard(core_);
    events = core_.events.take();
    call = event_call_;
  }
  if (!call) return;
  for (const EngineEvent& event : events) call(event);
}

void EngineCore::wait(std::int64_t timeout_ns) noexcept {
  std::vector<pollfd> polled;
  {
    const Guard guard(core_);
    keep_time();
    if (progress_locked(kFramesPerTurn) != 0) return;
    for (auto& slot : core_.bml.slots()) {
      if (!slot->open()) continue;
      if (!slot->transport->arm()) return;
      if (slot->transport->wait_fd() >= 0)
        polled.push_back({slot->transport->wait_fd(), POLLIN, 0});
    }
  }
  // A doorbell may be missed, and a path may need its timers: never longer than a millisecond at a
  // time.
  const std::int64_t at_most_ms =
      timeout_ns < 0 ? 1 : std::min<std::int64_t>(timeout_ns / kMillisecond, 1);
  ::poll(polled.data(), polled.size(), static_cast<int>(at_most_ms));
}

Result<std::unique_ptr<Port>> EngineCore::open_port(const PortOptions& options) {
  const Guard guard(core_);
  return core_.ports.open(owner_.lock(), options);
}

Result<Destination> EngineCore::peer(const Address& address) {
  const Guard guard(core_);
  return core_.bml.resolve(address);
}

Address EngineCore::address_of(const Destination& destination) const noexcept {
  const Guard guard(core_);
  return core_.bml.address_of(destination.peer->process, destination.port,
                              destination.peer->addresses);
}

int EngineCore::add_waker(std::function<void()> signal) {
  const std::lock_guard lock(wakers_mutex_);
  wakers_.emplace(next_waker_, std::move(signal));
  return next_waker_++;
}

void EngineCore::remove_waker(int id) noexcept {
  const std::lock_guard lock(wakers_mutex_);
  wakers_.erase(id);
}

void EngineCore::wake_waiters() noexcept {
  const std::lock_guard lock(wakers_mutex_);
  for (const auto& [id, signal] : wakers_) signal();
}

void EngineCore::on_event(std::function<void(const EngineEvent&)> call) {
  const Guard guard(core_);
  event_call_ = std::move(call);
}

// Agent
// ----------------------------------------------------------------------------------------------------------

void EngineCore::submit(const RungOrder& order) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.now = core_.config.now();
  core_.switching.order(order);
  progress_locked(kFramesPerTurn);
  switching_at_work_.store(core_.switching.at_work(), std::memory_order_relaxed);
}

RungReport EngineCore::report() {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  return core_.switching.report();
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
  core_.switching.signal = std::move(signal);
}

void EngineCore::publish_relay(const std::string& relay) {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  core_.bml.publish_relay(relay);
}

std::vector<std::string> EngineCore::relays() {
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  return core_.bml.relays();
}

// in: the application may or may not be calling. out: if it is not, or there is an order, the
// engine has moved.
std::int64_t EngineCore::agent_turn() {
  const std::uint64_t calls = calls_.load(std::memory_order_relaxed);
  away_ = calls == calls_seen_;
  calls_seen_ = calls;
  const std::int64_t look_again = core_.config.settings.away_us * kMicrosecond;
  const bool at_work = switching_at_work_.load(std::memory_order_relaxed);
  if (!away_ && !at_work) return quiet_sleep_ = look_again;
  std::size_t moved = 0;
  bool idle = false, quiet = false;
  {
    const Guard guard(core_, BiasedLock::Caller::kAgent);
    keep_time();
    moved = progress_locked(kFramesPerTurn);
    const bool pending = core_.bml.work_pending();
    idle = !core_.bml.any_open_path() && !pending;
    switching_at_work_.store(core_.switching.at_work(), std::memory_order_relaxed);
    const bool armed = moved == 0 && !idle && arm_transports();
    quiet = armed && !pending && !core_.switching.at_work();
  }
  const std::int64_t longest = std::max(look_again, kQuietSleepMax);
  quiet_sleep_ = quiet ? std::clamp(2 * quiet_sleep_, look_again, longest) : look_again;
  if (moved != 0) wake_waiters();
  if (moved != 0) return 0;
  return idle ? 100 * kMillisecond : quiet_sleep_;
}

// true: each will ring when there is work.
bool EngineCore::arm_transports() noexcept {
  bool armed = true;
  for (auto& slot : core_.bml.slots()) {
    if (slot->open() && !slot->transport->arm()) armed = false;
  }
  return armed;
}

// While the application calls in, its own polling finds what comes: the agent must not be woken by
// each frame.
std::vector<int> EngineCore::wait_fds() {
  std::vector<int> fds;
  if (!away_) return fds;
  const Guard guard(core_, BiasedLock::Caller::kAgent);
  for (auto& slot : core_.bml.slots()) {
    if (slot->open() && slot->transport->wait_fd() >= 0) fds.push_back(slot->transport->wait_fd());
  }
  return fds;
}

}  // namespace livebtl::core
