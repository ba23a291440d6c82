// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/metrics_look.cc -- see metrics_look.h.
#include "ctl-tool/metrics_look.h"

#include "control/place/directory.h"

namespace livebtl::tool {

tl::expected<std::vector<Pages>, NoJob> look_for_metrics(const CommandLine& line) {
  const auto user = read_user(line.user);
  if (!user) return tl::unexpected(user.error());
  std::vector<Pages> jobs;
  for (const control::JobPlace& job : all_jobs(*user)) {
    if (line.job.empty() || job.id == line.job) jobs.push_back(pages_here(job));
  }
  const auto unusable = unusable_run_directory(*user);
  if (unusable && jobs.empty()) return tl::unexpected(*unusable);
  if (unusable) complain(unusable->text + "; jobs there are not counted");
  return jobs;
}

}  // namespace livebtl::tool
