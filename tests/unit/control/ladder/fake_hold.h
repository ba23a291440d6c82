// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/ladder/fake_hold.h -- the hold of an engine without data: it parks at once. Any
// thread.
#pragma once

#include <algorithm>
#include <mutex>

#include "core/engine/admin.h"

namespace livebtl::test {

class FakeHold {
 public:
  core::HoldReport start(const core::HoldOrder& order) {
    const std::lock_guard guard(mutex_);
    if (report_.id != 0 && order.id != report_.id) return refused("it is held already");
    report_.id = order.id;
    report_.state = core::HoldState::kParked;
    report_.members = order.members;
    report_.incarnation = std::max(report_.incarnation, order.job);
    core::HoldReport now = report_;
    now.left_ms = static_cast<std::uint32_t>(order.lease / kMillisecond);
    return now;
  }
  core::HoldReport end(std::uint64_t id) {
    const std::lock_guard guard(mutex_);
    if (id != report_.id) return report_;
    if (report_.claimed) return refused("it is claimed");
    report_.id = 0;
    report_.state = core::HoldState::kNone;
    return report_;
  }
  core::HoldReport claim(std::uint64_t id, TimeNs lease, std::uint64_t number = 0) {
    const std::lock_guard guard(mutex_);
    if (id != report_.id) return refused("it was not held by that");
    report_.claimed = true;
    report_.claim = number;
    report_.left_ms = static_cast<std::uint32_t>(lease / kMillisecond);
    return report_;
  }
  core::HoldReport restore(std::uint64_t id, Incarnation to) {
    const std::lock_guard guard(mutex_);
    if (id != report_.id) return refused("it was not held by that");
    report_.restored_from = id;
    report_.claimed = false;
    report_.incarnation = to;
    return report_;
  }
  core::HoldReport report() const {
    const std::lock_guard guard(mutex_);
    return report_;
  }

 private:
  core::HoldReport refused(const char* why) const {
    core::HoldReport refused = report_;
    refused.refusal = why;
    return refused;
  }
  mutable std::mutex mutex_;
  core::HoldReport report_;
};

}  // namespace livebtl::test
