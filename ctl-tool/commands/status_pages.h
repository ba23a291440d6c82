// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/status_pages.h -- collects the pairs of processes that have more than one
// answer holds. Run by btlctl's one thread; owns nothing.
#pragma once

#include "ctl-tool/ask.h"

namespace livebtl::tool {

/// Each answer has its first page of pairs; adds the others. `timeout`: for all of them together.
/// Complains of a process whose pairs are still incomplete then.
void add_all_pages(control::JobLinks& links, TimeNs timeout, const std::atomic<bool>& stop,
                   Asker<control::StatusAnswer>::Result& result);

}  // namespace livebtl::tool
