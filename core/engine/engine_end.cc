// SPDX-License-Identifier: BSD-3-Clause
// core/engine/engine_end.cc -- the orderly end of an engine: what it has sent is taken, or both
// ends know that it was not.
//
// Runs on the thread that gives the engine up; meanwhile the agent moves the engine, and learns of
// peers that have died.
#include <poll.h>

#include "base/log.h"
#include "core/engine/engine_core.h"

namespace livebtl::core {
namespace {

constexpr TimeNs kSilentFor = kSecond;
constexpr TimeNs kToldEvery = 30 * kSecond;
// For goodbyes that find no room; a peer that does not read learns by proof that this process has
// ended.
constexpr TimeNs kGoodbyeMax = 100 * kMillisecond;

}  // namespace

void EngineCore::linger() noexcept {
  while (!linger_turn()) ::poll(nullptr, 0, 1);
}

bool EngineCore::linger_turn() noexcept {
  const int linger_ms = core_.context.config.settings.linger_ms;
  const TimeNs at_most = linger_ms < 0 ? INT64_MAX / 2 : linger_ms * kMillisecond;
  const TimeNs now = core_.context.config.now();
  if (!lingering_) lingering_ = Lingering{.until = now + at_most, .tell_at = now + kSilentFor};
  if (lingering_->said_by == 0) {
    if (!waited_for_all(*lingering_, at_most)) return false;
    lingering_->said_by = now + kGoodbyeMax;
  }
  return say_goodbye() || core_.context.config.now() >= lingering_->said_by;
}

bool EngineCore::waited_for_all(Lingering& lingering, TimeNs at_most) noexcept {
  const Guard guard(core_);
  keep_time_here();
  progress_locked(kFramesPerTurn);
  const TimeNs now = core_.context.now;
  // What a hold keeps back is sent when it ends: its lease is bounded.
  if (core_.hold.parks()) {
    if (!std::exchange(lingering.hold_told, true))
      log(LogLevel::kWarn, "hold", "this process is about to end, but waits: the job is held");
    lingering.until = now + at_most;
  } else if (now >= lingering.tell_at) {
    name_unsettled(false);
    lingering.tell_at = now + kToldEvery;
  }
  const bool settled = core_.bml.peers.settled();
  const bool over = settled || now > lingering.until;
  if (!over) core_.bml.probes.request_acks();
  if (over && !settled) name_unsettled(true);
  return over;
}

bool EngineCore::say_goodbye() noexcept {
  const Guard guard(core_);
  const bool said = core_.bml.losses.say_goodbye();
  progress_locked(kFramesPerTurn);
  return said;
}

void EngineCore::name_unsettled(bool gives_up) noexcept {
  core_.bml.peers.for_each([&](const Peer& peer) {
    if (Peers::settled(peer)) return;
    const std::string what = std::to_string(peer.tx.end() - peer.tx.acked) + " frames and " +
                             std::to_string(peer.sending.size()) + " large messages";
    if (gives_up) {
      log(LogLevel::kError, "engine", "this process ends though %s has not taken %s",
          peer.name().c_str(), what.c_str());
    } else {
      log(LogLevel::kWarn, "engine",
          "this process is about to end, but waits for %s to take %s, or to be proved dead "
          "(LIVEBTL_LINGER_MS bounds the wait)",
          peer.name().c_str(), what.c_str());
    }
  });
}

}  // namespace livebtl::core
