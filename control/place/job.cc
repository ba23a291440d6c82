// SPDX-License-Identifier: BSD-3-Clause
// control/place/job.cc -- see job.h: puts together what launcher.h, rundir.h and job_secret.h find.
#include "control/place/job.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/fd.h"
#include "base/log.h"
#include "base/node_identity.h"
#include "base/process_files.h"
#include "base/text.h"
#include "control/place/directory.h"
#include "control/place/job_secret.h"
#include "control/place/launcher.h"
#include "control/place/pmix_seed.h"
#include "control/place/rundir.h"

namespace livebtl::control {
namespace {

std::optional<std::string> environment(std::string_view name) {
  const char* value = ::secure_getenv(std::string(name).c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

/// What the launcher gave, whatever the process has set since.
std::string environment_at_start() {
  constexpr std::size_t kBytesMax = 8u << 20;  // the kernel's limit is lower
  const Fd fd(::open("/proc/self/environ", O_RDONLY | O_CLOEXEC));
  auto text = fd ? read_descriptor(fd.number(), kBytesMax) : Result<std::string>(std::string());
  return text ? std::move(*text) : std::string();
}

Result<LauncherFacts> ask_launcher(const std::string& seed) {
  const std::string started_with = environment_at_start();
  const Lookup at_start = [&](std::string_view name) { return find_variable(started_with, name); };
  // Only processes of one node share a process manager.
  const auto manager_id = [&] { return seed.empty() ? process_manager_id() : name_by(seed); };
  auto launcher = read_launcher(environment, at_start, manager_id);
  if (launcher && !seed.empty()) launcher->seed = seed;
  return launcher;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown-host";
  std::string host(name.data());
  for (char& c : host) {
    if (!is_plain(c)) c = '?';
  }
  return host.empty() ? "unknown-host" : host;
}

bool is_secret_given(const Settings& settings) noexcept {
  return settings.secret_fd >= 0 || !settings.secret_file.empty() ||
         settings.auth == AuthLevel::kNone;
}

/// The identity of this process, without touching a file.
Result<JobFacts> read_facts(const Settings& settings, const LauncherFacts& launcher,
                            ProcessId process) {
  JobFacts facts;
  facts.id = !settings.job.empty() ? settings.job : launcher.job;
  if (facts.id.empty()) facts.id = process_name(process);
  if (!valid_job_id(facts.id)) {
    return fail(Errc::kInvalid,
                "LIVEBTL_JOB=" + facts.id +
                    " must be 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter or digit");
  }
  facts.announced = settings.size != 0 ? settings.size : launcher.announced;
  const bool named_node = !settings.node.empty();  // what the launcher takes for one may be several
  facts.relays = settings.relay || (facts.announced != 1 && (named_node || !launcher.one_node));
  // No launcher knows who belongs to a job named by hand, nor who the parents of a spawned one are.
  facts.one_node = launcher.one_node && launcher.announced != 0 && settings.job.empty() &&
                   settings.size == 0 && !named_node;
  facts.relay_path = settings.relay_path;
  facts.relay_on = settings.tcp_if;
  facts.takes_over = settings.takeover;
  facts.rank = launcher.rank;
  facts.host = settings.node.empty() ? host_name() : settings.node;
  const std::string place =
      launcher.place.empty() ? "process " + std::to_string(::getpid()) : launcher.place;
  facts.label = place + " on " + facts.host;
  const auto node = node_identity(settings.node);
  if (!node) return tl::unexpected(node.error());
  facts.node = *node;
  return facts;
}

/// Only some launchers put it into the environment. What one member of the job finds here, all
/// find.
void find_seed(const Settings& settings, LauncherFacts& launcher) {
  constexpr int kRankZeroBehindSeconds = 60;
  if (is_secret_given(settings) || !launcher.seed.empty() || !environment("PMIX_NAMESPACE")) return;
  const auto pmix = loaded_pmix();
  if (!pmix) return;
  auto seed = seed_by_pmix(*pmix, kRankZeroBehindSeconds);
  if (seed) {
    launcher.seed = std::move(*seed);
  } else {
    log(LogLevel::kWarn, "job", "the launcher's server gives no secret to this job: %s",
        seed.error().text.c_str());
  }
}

/// A file in the job's directory is a separate secret on each node, not a common one.
void warn_of_secret_per_node(const Settings& settings, const LauncherFacts& launcher) {
  if (is_secret_given(settings) || !launcher.seed.empty() || launcher.job.empty() ||
      launcher.one_node || launcher.announced < 2)
    return;
  log(LogLevel::kWarn, "job",
      "this launcher gives no secret to all nodes; if the job has several, start it by "
      "livebtl-run, or "
      "give it one by LIVEBTL_SECRET_FILE, or they will refuse each other");
}

}  // namespace

std::string process_name(ProcessId process) { return process_file(process, ""); }

Result<JobFacts> find_job(const Settings& settings, ProcessId process) {
  auto launcher = ask_launcher(settings.seed);
  if (!launcher) return tl::unexpected(launcher.error());
  find_seed(settings, *launcher);
  auto facts = read_facts(settings, *launcher, process);
  if (!facts) return facts;
  auto rundir = make_run_directory(settings.rundir, run_places());
  if (!rundir) return tl::unexpected(rundir.error());
  auto directory = make_job_directory(*rundir, facts->id);
  if (!directory) return tl::unexpected(directory.error());
  facts->rundir = *rundir;
  facts->directory = directory->path;
  facts->hold = directory->hold;
  facts->run = directory->run;
  if (directory->begins) tidy_run_directory(*rundir);
  auto secret = find_secret(settings, launcher->seed, secret_path(facts->directory, facts->run));
  if (!secret) return tl::unexpected(secret.error());
  facts->secret = *secret;
  warn_of_secret_per_node(settings, *launcher);
  return facts;
}

}  // namespace livebtl::control
