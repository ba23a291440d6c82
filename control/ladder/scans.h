// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/scans.h -- a machine's scans for members: whether one is wanted or in progress, and when the next is
// due. Pure; part of a machine, and used by its thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace livebtl::control {

class Scans {
 public:
  /// Only a scan that begins from now on will do.
  void want() noexcept { wanted_ = true; }
  /// If one is wanted: its number; it is in progress from now on.
  std::optional<std::uint64_t> begin(TimeNs now) noexcept {
    if (!wanted_) return std::nullopt;
    wanted_ = false;
    begun_at_ = now;
    return ++begun_;
  }
  void ended(std::uint64_t number, TimeNs now) noexcept {
    if (number <= ended_ || number > begun_) return;
    ended_ = number;
    ended_at_ = now;
  }
  bool wanted() const noexcept { return wanted_; }
  bool in_progress() const noexcept { return ended_ != begun_; }
  /// While somebody is missing. A scan may take long, and its caller receives nothing meanwhile: as
  /// much time is left for the answers.
  TimeNs again_at(TimeNs pause) const noexcept {
    return ended_at_ + std::max(pause, ended_at_ - begun_at_);
  }

 private:
  bool wanted_ = true;
  std::uint64_t begun_ = 0, ended_ = 0;
  TimeNs begun_at_ = 0, ended_at_ = 0;
};

}  // namespace livebtl::control
