// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/driver/job_view.h -- what all members of a job say about their traffic, and how to
// order one switch.
//
// Speaks the control protocol, as btlctl does; knows nothing of the engine but its status values.
// Threads: one.
#pragma once

#include <atomic>
#include <string>

#include "control/client/drive.h"
#include "tests/e2e/driver/account.h"

namespace livebtl::e2e {

/// Finds the job of that name, or the only one. Errors: kNotFound, kInvalid (several).
Result<control::JobPlace> find_job(const std::string& wanted);

/// The members' counts, and the newest epoch in which one of them stands.
struct View {
  Counts counts;
  std::uint32_t epoch = 0;
};
/// The counts of all pairs. Left out are members that leave meanwhile, and answers from before
/// `epoch_min`: a slow member is asked again, and may answer the first question later. Errors:
/// kTimeout, with the silent members.
Result<View> ask_counts(control::JobLinks& links, TimeNs timeout, std::uint32_t epoch_min = 0);

/// Carries out one command, as btlctl would. nullopt: stopped.
std::optional<control::Outcome> order(control::JobLinks& links, const std::string& verb,
                                      const std::vector<std::string>& arguments, TimeNs timeout,
                                      const std::atomic<bool>& stop);

}  // namespace livebtl::e2e
