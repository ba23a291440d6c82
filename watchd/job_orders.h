// SPDX-License-Identifier: BSD-3-Clause
// watchd/job_orders.h -- has btlctl order the jobs of this node to let go of their devices, or to
// return to them. Main thread only; blocks; owns nothing.
#pragma once

#include "watchd/settings.h"
#include "watchd/turns.h"

namespace livebtl::watchd {

class JobOrders {
 public:
  explicit JobOrders(const Settings& settings);

  /// Has all jobs let go, one after the other, users in turn (turns.h); tries no other one after
  /// `until`. kDone: all have released, or there is none.
  Outcome prepare(TimeNs until) const;
  Outcome give_back(TimeNs until) const;
  const std::string& node() const noexcept { return node_; }

 private:
  struct Found {
    std::vector<Job> jobs;
    std::size_t unnamed = 0;  // cannot be ordered
  };
  Result<Found> jobs(TimeNs until) const;
  Outcome order_all(bool prepare, TimeNs until) const;
  Outcome order(const Job& job, bool prepare, TimeNs until) const;
  std::vector<std::string> words(const Job& job, bool prepare, TimeNs timeout) const;

  const Settings& settings_;
  std::string node_;
};

}  // namespace livebtl::watchd
