// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/secret_command.cc -- secret: what whoever commands the job from outside has to show.
#include <cstring>

#include "control/ladder/census.h"
#include "control/place/job_secret.h"
#include "ctl-tool/ask.h"
#include "ctl-tool/commands.h"
#include "ctl-tool/say.h"
#include "ctl-tool/table.h"

namespace livebtl::tool {
namespace {

using control::SecretAnswer;

constexpr const char* kNoSecret =
    "this job has no secret (LIVEBTL_AUTH=none): btlctl --connect needs none";

/// A file that was named wrongly, or for which there is no room, is no matter of rights.
ExitCode code_of_failed_write(Errc error) {
  return error == Errc::kAuth ? ExitCode::kNotPermitted : ExitCode::kUsage;
}

/// Of two jobs that go by one name, either's secret might be the answer.
std::string conflict(const CommandLine& line, const control::JobLinks& links) {
  if (line.connect.empty()) {
    const auto job = find_job(links.job());
    return job ? conflict_in(*job) : "";
  }
  std::vector<control::Counted> live;
  for (const auto& member : links.found().live) live.push_back({member.name, member.rank, 0});
  return control::several_jobs(links.job(), live);
}

/// Wiped at its end.
struct Held {
  SecretAnswer answer;
  explicit Held(SecretAnswer heard) : answer(std::move(heard)) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { ::explicit_bzero(answer.secret.data(), answer.secret.size()); }
};

}  // namespace

int write_secret(const CommandLine& line, const std::atomic<bool>& stop) {
  auto links = open_job(line, 0, stop);
  if (!links) return fail_early(line, links.error());
  if (const std::string why = conflict(line, *links); !why.empty())
    return fail_early(line, {ExitCode::kRefused, why});
  Asker<SecretAnswer> asker(*links, line.timeout_for_look(), stop);
  auto heard = asker.ask_any(control::SecretRequest{links->job()});
  const Held held(heard ? std::move(*heard) : SecretAnswer{});
  if (stop.load())
    return fail_early(line, {ExitCode::kInterrupted, "interrupted; no file was made"});
  if (!heard)
    return fail_early(line, {ExitCode::kMembersMissing, "no process answers; are they stopped?"});
  const std::string& secret = held.answer.secret;
  if (secret.empty()) {
    return fail_early(line, {ExitCode::kNotPermitted, kNoSecret});
  }
  std::string text = "the secret of job " + links->job() + " would be written to " + line.file;
  if (!line.dry_run) {
    if (const auto written = control::write_secret_file(line.file, secret); !written)
      return fail_early(line, {code_of_failed_write(written.error().code), written.error().text});
    text = "the secret of job " + links->job() + " is in " + line.file;
  }
  print(line.json ? control::outcome_json(plain_outcome(line, 0, text)) + "\n"
                  : printable(text) + "\n");
  return 0;
}

}  // namespace livebtl::tool
