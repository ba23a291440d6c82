// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/secret.cc -- secret: writes what proves the right to command the job from outside.
#include <cstring>

#include "control/ladder/membership.h"
#include "control/place/job_secret.h"
#include "ctl-tool/ask.h"
#include "ctl-tool/command.h"
#include "ctl-tool/options.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

using control::SecretAnswer;

constexpr const char* kNoSecret =
    "this job has no secret (LIVEBTL_AUTH=none): btlctl --connect needs none";

/// A wrong file name, or a full disk, is not a lack of permission.
ExitCode code_of_failed_write(Errc error) {
  return error == Errc::kAuth ? ExitCode::kNotPermitted : ExitCode::kUsage;
}

/// If two jobs go by one name, the answer might be the secret of either.
std::string conflict(const CommandLine& line, const control::JobLinks& links) {
  if (line.connect.empty()) {
    const auto job = find_job(links.job(), line.user);
    return job ? conflict_in(*job) : "";
  }
  std::vector<control::Counted> live;
  for (const auto& member : links.found().live) live.push_back({member.name, member.rank, 0});
  return control::several_jobs(links.job(), live);
}

/// Wipes the secret on destruction.
struct Held {
  SecretAnswer answer;
  explicit Held(SecretAnswer heard) : answer(std::move(heard)) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { ::explicit_bzero(answer.secret.data(), answer.secret.size()); }
};

ExitCode write_secret(const CommandLine& line, const std::atomic<bool>& stop) {
  auto links = open_job(line, 0, stop);
  if (!links) return end_early(line, links.error());
  if (const std::string why = conflict(line, *links); !why.empty())
    return end_early(line, {ExitCode::kRefused, why});
  Asker<SecretAnswer> asker(*links, line.timeout_for_look(), stop);
  auto heard = asker.ask_any(control::SecretRequest{links->job()});
  const Held held(heard ? std::move(*heard) : SecretAnswer{});
  if (stop.load())
    return end_early(line, {ExitCode::kInterrupted, "interrupted; no file was made"});
  if (!heard)
    return end_early(line, {ExitCode::kMembersMissing, "no process answers; are they stopped?"});
  const std::string& secret = held.answer.secret;
  if (secret.empty()) {
    return end_early(line, {ExitCode::kNotPermitted, kNoSecret});
  }
  std::string text = "the secret of job " + links->job() + " would be written to " + line.file;
  if (!line.dry_run) {
    if (const auto written = control::write_secret_file(line.file, secret); !written)
      return end_early(line, {code_of_failed_write(written.error().code), written.error().text});
    text = "the secret of job " + links->job() + " is in " + line.file;
  }
  return end_early(line, {ExitCode::kDone, text});
}

std::string problem_of_file(const std::string& text) {
  return text == "-" ? "a secret is written to a file that only its owner can read, never to the "
                       "output; a file of that name would be ./-"
                     : "";
}

void define_secret(CLI::App& app, CommandLine& line) {
  add_word(app, "FILE", line.file, "FILE", "The file to create, with mode 0600")
      ->check(checked(problem_of_file));
}

}  // namespace

const Command kSecret{
    .name = "secret",
    .summary = "Write the job's secret to a file",
    .detail =
        R"(The file is for `btlctl --secret-file` on a machine that has no process of the job: copy it there,
readable only by you. Anyone who has it can command the job, and can pose as one of its processes.

Examples:
  btlctl secret job.secret
  btlctl jobs          # RELAY: node7:40123
  btlctl --connect node7:40123 --secret-file job.secret status     # elsewhere)",
    .define = define_secret,
    .run = write_secret};

}  // namespace livebtl::tool
