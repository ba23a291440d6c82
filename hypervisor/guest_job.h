// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/guest_job.h -- the job in a guest, commanded by the guest's own btlctl through the
// guest agent. Used by btlctl's one thread; borrows the agent.
#pragma once

#include "hypervisor/guest_agent.h"

namespace livebtl::hypervisor {

// The one place that knows these commands.
inline constexpr const char* kPrepareWords[] = {"checkpoint", "prepare"};
inline constexpr const char* kReturnWords[] = {"checkpoint", "return"};

enum class GuestOrder { kPrepare, kReturn };

struct GuestJob {
  std::string btlctl = "btlctl";  // in the guest
  std::string job;                // "": the guest's only one
};

/// What the guest's btlctl said; its exit codes are btlctl's.
struct GuestAnswer {
  int code = 0;
  std::string text;
};

std::vector<std::string> words_of(const GuestJob& job, GuestOrder order, const std::string& node,
                                  TimeNs timeout);
/// Runs it, again and again while the job is busy with another order, such as one whose btlctl was
/// killed. `timeout`: of each.
Result<GuestAnswer> give_order(GuestAgent& agent, const GuestJob& job, GuestOrder order,
                               TimeNs timeout, const Patience& patience);
/// What it printed, checked.
GuestAnswer read_answer(const Finished& finished, GuestOrder order);

}  // namespace livebtl::hypervisor
