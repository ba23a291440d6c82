// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/metrics_labels.h -- which labels the samples of a job and of a process have: no two have the same, whatever
// pages say. Pure.
//
// User and job are those of the directory, which the operating system guards; the page is written by who owns it, and
// never decides whose series it counts for.
#pragma once

#include <string>
#include <vector>

#include "ctl-tool/exposition.h"
#include "ctl-tool/pages.h"

namespace livebtl::tool {

struct CountedProcess {
  const control::PageView* page = nullptr;
  // user, mpi_job, rank; where two runs have one name and a rank repeats, the process, too. Not `job`: Prometheus puts
  // the name of its scrape there, and would move ours aside.
  Labels labels;
  std::string process;  // its name; "": it is among the labels already
};

struct CountedJob {
  Labels labels;
  std::size_t processes = 0, unread = 0;
  std::vector<CountedProcess> read;
};

/// Of several directories of one user that name the same job, one job. Points into `jobs`.
std::vector<CountedJob> counted_jobs(const std::vector<Pages>& jobs);

}  // namespace livebtl::tool
