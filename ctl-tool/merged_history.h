// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/merged_history.h -- the last switches of a job, put together of what each process remembers of them. Pure.
//
// Times of two nodes are never compared: how long a rung took is what the slowest process says, by its own clock.
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
  std::uint32_t members = 0, reached = 0;  // were ordered to it, and have reached it
  double milliseconds = 0.0;               // of the slowest
  std::vector<SlowMember> slow;  // the slowest first, at most three; none if all were about as fast
};

struct MergedSwitch {
  control::SwitchRecord what;  // as the fullest tells it; `rungs` and `refusal` are empty
  std::uint32_t members = 0;   // that remember it
  double milliseconds = 0.0;   // from the first order to the last rung, in the slowest process
  std::vector<std::string> refusals;  // "rank 3 on n1: why"
  std::vector<MergedRung> rungs;
};

/// The oldest first; at most `last` of them, the newest.
std::vector<MergedSwitch> merge_history(const std::vector<control::PageView>& pages,
                                        std::size_t last);

/// "switch sm tcp on node n1"; pages: of the job, whose hosts' names people know better than nodes' ids.
std::string title_of_switch(const control::SwitchRecord& record,
                            const std::vector<control::PageView>& pages);

}  // namespace livebtl::tool
