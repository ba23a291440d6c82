// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/merged_history.h -- the last switches of a job, merged from what each process remembers
// of them. Pure.
//
// Times of two nodes are never compared: a rung took as long as the slowest process says, by its
// own clock.
#pragma once

#include <string>
#include <vector>

#include "control/place/page_view.h"

namespace livebtl::tool {

struct SlowMember {
  std::string name;
  int rank = -1;
  double milliseconds = 0.0;
  bool reached = false;
  std::string waited_for;  // "": it does not say
};

struct MergedRung {
  control::Rung rung = control::Rung::kOld;
  bool undoing = false;
  std::uint32_t members = 0, reached = 0;  // ordered to it, and those that reached it
  double milliseconds = 0.0;               // of the slowest
  std::vector<SlowMember> slow;  // the slowest first, at most three; none if all were about as fast
};

struct MergedSwitch {
  control::SwitchRecord what;  // from the fullest record; `rungs` and `refusal` are empty
  std::uint32_t members = 0;   // how many remember it
  double milliseconds = 0.0;   // from the first order to the last rung, in the slowest process
  std::vector<std::string> refusals;  // "rank 3 on n1: why"
  std::vector<MergedRung> rungs;
};

/// Oldest first; only the newest `last` of them.
std::vector<MergedSwitch> merge_history(const std::vector<control::PageView>& pages,
                                        std::size_t last);

/// "switch sm tcp on node n1"; pages: the job's, for the hosts' names, which people know better
/// than nodes' ids.
std::string title_of_switch(const control::SwitchRecord& record,
                            const std::vector<control::PageView>& pages);

}  // namespace livebtl::tool
