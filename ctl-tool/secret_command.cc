// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/secret_command.cc -- secret: what whoever commands the job from outside has to show.
#include "control/job_secret.h"
#include "ctl-tool/ask.h"
#include "ctl-tool/commands.h"
#include "ctl-tool/say.h"
#include "ctl-tool/table.h"

namespace livebtl::tool {
namespace {

using control::ExitCode;
using control::SecretAnswer;

/// Of whichever member answers: all know the same.
std::optional<std::string> ask_for_secret(control::JobLinks& links, const CommandLine& line,
                                          const std::atomic<bool>& stop) {
  Asker<SecretAnswer> asker(links, line.timeout_for_look(), stop);
  const auto result = asker.ask_all(control::SecretRequest{links.job()});
  if (result.answers.empty()) return std::nullopt;
  return result.answers.front().second.secret;
}

}  // namespace

int write_secret(const CommandLine& line, const std::atomic<bool>& stop) {
  auto links = open_job(line, 0, stop);
  if (!links) return fail_early(line, links.error());
  const auto secret = ask_for_secret(*links, line, stop);
  if (!secret)
    return fail_early(line, {ExitCode::kMembersMissing, "no process answers; are they stopped?"});
  if (secret->empty()) {
    return fail_early(line, {ExitCode::kNotPermitted,
                             "this job has no secret (LIVEBTL_AUTH=none): btlctl --connect needs "
                             "none"});
  }
  std::string text = "the secret of job " + links->job() + " would be written to " + line.file;
  if (!line.dry_run) {
    if (const auto written = control::write_secret_file(line.file, *secret); !written)
      return fail_early(line, {ExitCode::kNotPermitted, written.error().text});
    text = "the secret of job " + links->job() + " is in " + line.file;
  }
  if (line.json) {
    print(control::outcome_json(plain_outcome(line, 0, text)) + "\n");
  } else {
    print(printable(text) + "\n");
  }
  return 0;
}

}  // namespace livebtl::tool
