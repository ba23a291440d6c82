// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/metrics_look.cc -- see metrics_look.h.
#include "ctl-tool/metrics_look.h"

#include "control/place/directory.h"

namespace livebtl::tool {

tl::expected<MetricsLook, NoJob> look_for_metrics(const CommandLine& line) {
  const auto user = read_user(line.user);
  if (!user) return tl::unexpected(user.error());
  MetricsLook look;
  for (const control::JobPlace& job : all_jobs(*user)) {
    if (line.job.empty() || job.id == line.job) look.jobs.push_back(pages_here(job));
  }
  const auto unusable = unusable_run_directory(*user);
  if (unusable && look.jobs.empty()) return tl::unexpected(*unusable);
  if (unusable) look.not_counted = unusable->text + "; jobs there are not counted";
  return look;
}

}  // namespace livebtl::tool
