// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/looks.h -- a machine's looks for members: which is wanted, which is under way, when to
// look again. Pure; part of a machine, and used by its thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace livebtl::control {

class Looks {
 public:
  /// Only a look that begins from now on will do.
  void want() noexcept { wanted_ = true; }
  /// If one is wanted: its number; it is under way from now on.
  std::optional<std::uint64_t> begin(TimeNs now) noexcept {
    if (!wanted_) return std::nullopt;
    wanted_ = false;
    asked_at_ = now;
    return ++asked_;
  }
  void answered(std::uint64_t number, TimeNs now) noexcept {
    if (number <= answered_ || number > asked_) return;
    answered_ = number;
    answered_at_ = now;
  }
  bool wanted() const noexcept { return wanted_; }
  bool under_way() const noexcept { return answered_ != asked_; }
  /// While somebody is missing. A look may take long, and whoever only looks hears nobody: as much
  /// time is left for the answers.
  TimeNs again_at(TimeNs pause) const noexcept {
    return answered_at_ + std::max(pause, answered_at_ - asked_at_);
  }

 private:
  bool wanted_ = true;
  std::uint64_t asked_ = 0, answered_ = 0;
  TimeNs asked_at_ = 0, answered_at_ = 0;
};

}  // namespace livebtl::control
