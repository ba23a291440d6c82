// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/metrics_look.cc -- see metrics_look.h.
#include "ctl-tool/metrics_look.h"

#include <sys/types.h>

#include <map>

#include "control/place/directory.h"

namespace livebtl::tool {

tl::expected<MetricsLook, NoJob> look_for_metrics(const CommandLine& line) {
  const auto user = read_user(line.user);
  if (!user) return tl::unexpected(user.error());
  MetricsLook look;
  std::map<uid_t, std::string>
      names;  // looked up once per user: it may take a question to another machine
  for (const control::JobPlace& job : all_jobs(*user)) {
    if (!line.job.empty() && job.id != line.job) continue;
    look.jobs.push_back(pages_here(job));
    const auto [name, is_new] = names.try_emplace(job.owner);
    if (is_new) name->second = user_name(job.owner);
    look.jobs.back().user = name->second;
  }
  const auto unusable = unusable_run_directory(*user);
  if (unusable && look.jobs.empty()) return tl::unexpected(*unusable);
  if (unusable) look.not_counted = unusable->text + "; jobs there are not counted";
  return look;
}

}  // namespace livebtl::tool
