// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/metrics_look.h -- the pages that metrics are made from: of all jobs of this node, or of
// one.
#pragma once

#include <string>
#include <vector>

#include "ctl-tool/choose_job.h"
#include "ctl-tool/pages.h"

namespace livebtl::tool {

struct MetricsLook {
  std::vector<Pages> jobs;
  std::string not_counted;  // for people: a run directory that cannot be used; "": none
};

/// Reads this node's pages and wakes nobody. A run directory that cannot be used is an error only
/// if no other has a job.
tl::expected<MetricsLook, NoJob> look_for_metrics(const CommandLine& line);

}  // namespace livebtl::tool
