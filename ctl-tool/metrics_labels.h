// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/metrics_labels.h -- the labels of a job's and of a process's samples: no two samples
// have the same, whatever pages say. Pure.
//
// User and job are those of the directory, which the operating system guards; a page is written by
// its owner, and never decides whose series it counts towards.
#pragma once

#include <string>
#include <vector>

#include "ctl-tool/exposition.h"
#include "ctl-tool/pages.h"

namespace livebtl::tool {

struct CountedProcess {
  const control::PageView* page = nullptr;
  // user, mpi_job, rank; also the process if two runs share a name and a rank repeats. Not `job`:
  // Prometheus puts the name of its scrape there, and would rename ours.
  Labels labels;
  std::string process;  // its name; "": already among the labels
};

struct CountedJob {
  Labels labels;
  std::size_t processes = 0, unread = 0;
  std::vector<CountedProcess> read;
};

/// Several directories of one user that name the same job count as one job. Points into `jobs`.
std::vector<CountedJob> counted_jobs(const std::vector<Pages>& jobs);

}  // namespace livebtl::tool
