// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/ladder/restored_job.h -- a job that was held, and the command that continues it.
#pragma once

#include <algorithm>

#include "tests/unit/control/ladder/held_job.h"

namespace livebtl::test {

inline constexpr Incarnation kNow{1000};

inline HoldCommand restored(std::uint64_t id = 0) {
  HoldCommand command{"", HoldVerb::kRestored, id, 60'000};
  command.incarnation = kNow;
  return command;
}

inline HeldJob held(std::uint64_t count) {
  HeldJob job(count);
  REQUIRE(job.run({"", HoldVerb::kStart, kId, 60'000}).code == ExitCode::kDone);
  return job;
}

inline bool all_go_on_as(const HeldJob& job, Incarnation incarnation) {
  return std::ranges::all_of(job.members, [&](const auto& item) {
    return item.second.state == HoldState::kNone && item.second.incarnation == incarnation &&
           item.second.restored_from == kId;
  });
}

}  // namespace livebtl::test
