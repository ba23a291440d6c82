// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/driver/job_view.h -- what all members of a job say about their traffic, and one switch
// ordered.
//
// Speaks the control protocol, as btlctl does; knows nothing of the engine but its status values.
// Threads: one.
#pragma once

#include <atomic>
#include <string>

#include "control/client/drive.h"
#include "tests/e2e/driver/account.h"

namespace livebtl::e2e {

/// The job of that name, or the only one. Errors: kNotFound, kInvalid (several).
Result<control::JobPlace> find_job(const std::string& wanted);

/// What the members count, and the newest epoch that one of them stands in.
struct View {
  Counts counts;
  std::uint32_t epoch = 0;
};
/// The counts of all pairs. Members that leave while they are asked are left out, and answers from
/// before `epoch_min`: a slow member is asked again, and may answer the first question later.
/// Errors: kTimeout, with the silent members.
Result<View> ask_counts(control::JobLinks& links, TimeNs timeout, std::uint32_t epoch_min = 0);

/// One command, as btlctl would give it. nullopt: stopped.
std::optional<control::Outcome> order(control::JobLinks& links, const std::string& verb,
                                      const std::vector<std::string>& arguments, TimeNs timeout,
                                      const std::atomic<bool>& stop);

}  // namespace livebtl::e2e
