// SPDX-License-Identifier: BSD-3-Clause
// transports/interface/pace.h -- the rounds in which to poll a transport whose poll costs system
// calls, as much time as several messages over shared memory. While it brings frames, every round;
// later by time, or by rounds, since the caller's clock may be coarse. Under the engine's lock;
// owned by the transport.
#pragma once

#include "base/clock.h"

namespace livebtl::core {

class Pace {
 public:
  /// The engine asks once a round. beside_traffic: other transports have just brought frames, and
  /// whoever waits now most likely waits for those.
  bool due(TimeNs now, bool beside_traffic) noexcept {
    if (now < busy_until_) return true;
    const TimeNs at = beside_traffic ? beside_traffic_at_ : at_;
    const unsigned skipped_max = beside_traffic ? kSkippedBesideTrafficMax
                                 : alone_       ? kSkippedAloneMax
                                                : kSkippedMax;
    if (now < at && ++skipped_ < skipped_max) return false;
    skipped_ = 0;
    at_ = now + kEveryNs;
    beside_traffic_at_ = now + kBesideTrafficEveryNs;
    return true;
  }
  /// The transport has been polled. alone: no peer is connected, so it can only be dialled.
  void polled(TimeNs now, std::size_t frames, bool alone) noexcept {
    if (frames > 0) busy_until_ = now + kBusyNs;
    alone_ = alone;
  }
  /// The transport has work that cannot wait: the next round is due.
  void hurry() noexcept { at_ = beside_traffic_at_ = 0; }

  static constexpr TimeNs kBusyNs = kMillisecond;  // after the last frame
  static constexpr TimeNs kEveryNs = 5 * kMicrosecond;
  static constexpr TimeNs kBesideTrafficEveryNs = 50 * kMicrosecond;
  static constexpr unsigned kSkippedMax = 8;
  static constexpr unsigned kSkippedAloneMax = 64;
  static constexpr unsigned kSkippedBesideTrafficMax = 1024;

 private:
  TimeNs busy_until_ = 0;
  TimeNs at_ = 0;
  TimeNs beside_traffic_at_ = 0;
  unsigned skipped_ = 0;  // rounds since the last poll
  bool alone_ = true;
};

}  // namespace livebtl::core
