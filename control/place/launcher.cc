// SPDX-License-Identifier: BSD-3-Clause
// control/place/launcher.cc -- see launcher.h. One function per launcher, asked in order; the first
// that knows wins.
#include "control/place/launcher.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/hex.h"
#include "base/process_mark.h"
#include "base/secret.h"
#include "base/text.h"

namespace livebtl::control {
namespace {

constexpr std::string_view kOmpiSeed = "OMPI_MCA_orte_precondition_transports";
constexpr std::uint64_t kRanksMax = 1u << 24;
constexpr std::size_t kJobIdMax = 64;

Result<std::optional<std::uint64_t>> number(const Lookup& lookup, std::string_view name,
                                            std::uint64_t limit) {
  const auto text = lookup(name);
  if (!text) return std::optional<std::uint64_t>{};
  const auto value = parse_number<std::uint64_t>(*text);
  if (!value || *value > limit) {
    return fail(Errc::kInvalid, std::string(name) + "=" + *text + " is not a number from 0 to " +
                                    std::to_string(limit) +
                                    "; unset it, or start the program by its launcher");
  }
  return value;
}

/// Rank and size under the names that one launcher gives them.
Status read_place(const Lookup& lookup, std::string_view rank_name, std::string_view size_name,
                  LauncherFacts& facts) {
  const auto size = number(lookup, size_name, kRanksMax);
  if (!size) return tl::unexpected(size.error());
  const auto rank = number(lookup, rank_name, kRanksMax);
  if (!rank) return tl::unexpected(rank.error());
  if (*size && **size > 0) facts.announced = static_cast<std::uint32_t>(**size);
  if (!*rank) return {};
  if (**rank >= (*size ? **size : facts.announced)) {
    return fail(Errc::kInvalid, std::string(rank_name) + " is not below " + std::string(size_name) +
                                    (*size ? "" : ", which is not set") +
                                    "; unset both, or start the program by its launcher");
  }
  facts.rank = static_cast<int>(**rank);
  facts.place = "rank " + std::to_string(**rank);
  return {};
}

/// Launchers tell how many of the ranks are here.
Status read_locality(const Lookup& lookup, std::string_view here_name, LauncherFacts& facts) {
  const auto here = number(lookup, here_name, kRanksMax);
  if (!here) return tl::unexpected(here.error());
  facts.one_node = *here && **here == facts.announced;
  return {};
}

/// Our name for something secret or too long: equal for equal texts, and reveals nothing of them.
std::string public_name(std::string_view purpose, std::string_view text) {
  constexpr std::size_t kNameBytes = 6;
  const Mac mac = Secret(std::array<std::byte, 32>{}).mac(purpose, as_bytes(text));
  return hex_bytes(Bytes(mac).first(kNameBytes));
}

std::string as_job_id(std::string_view prefix, std::string_view text) {
  std::string id{prefix};
  id += text;
  return valid_job_id(id) ? id : std::string(prefix) + public_name("livebtl job name", text);
}

/// A spawned process is rank 0, 1, ... of a world of its own; it is not among those announced at
/// the start.
void mark_spawned(LauncherFacts& facts, std::string_view pmix_namespace) {
  const auto orte_jobid = parse_number<std::uint64_t>(pmix_namespace);  // family << 16 | world
  if (pmix_namespace.empty()) {
    if (!facts.place.empty()) facts.place = "spawned " + facts.place;
  } else if (!facts.place.empty()) {
    facts.place += orte_jobid ? " of world " + std::to_string(*orte_jobid & 0xffff)
                              : " of spawned " + std::string(pmix_namespace);
  }
  facts.rank = -1;
  facts.announced = 0;
}

/// Open MPI sets the variable itself if the launcher did not: to random bits in a process without a
/// launcher, which its children are then given; but to the numbers of job and step, which everybody
/// knows, in a process started by another launcher than its own (orte's ess/pmi). Debian 13's Slurm
/// plugin for PMIx starts processes with such numbers in it.
bool is_guessable(const Lookup& at_start) {
  const bool by_open_mpi = at_start(kOmpiSeed) && at_start("OMPI_COMM_WORLD_SIZE");
  return !by_open_mpi &&
         (at_start("PMIX_NAMESPACE") || at_start("PMI_RANK") || at_start("SLURM_STEP_ID"));
}

/// What srun says about a step, however it talks to MPI.
Status read_step(const Lookup& lookup, LauncherFacts& facts) {
  auto status = read_place(lookup, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", facts);
  if (status) facts.one_node = lookup("SLURM_STEP_NUM_NODES") == "1";
  return status;
}

/// Only inside a step: a batch script has a job id and a rank too, but runs one process.
bool is_in_step(const Lookup& lookup) {
  return lookup("SLURM_JOB_ID") && lookup("SLURM_STEP_ID") && lookup("SLURM_STEP_NUM_TASKS");
}

/// Given by Open MPI's own launchers; srun with PMIx gives it under names of its own.
Status read_openmpi_place(const Lookup& lookup, LauncherFacts& facts) {
  if (!lookup("OMPI_COMM_WORLD_SIZE") && is_in_step(lookup)) return read_step(lookup, facts);
  auto status = read_place(lookup, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", facts);
  if (status) status = read_locality(lookup, "OMPI_COMM_WORLD_LOCAL_SIZE", facts);
  return status;
}

Result<bool> read_openmpi(const Lookup& lookup, const Lookup& at_start, LauncherFacts& facts) {
  const auto seed = is_guessable(at_start) ? std::nullopt : lookup(kOmpiSeed);
  const auto pmix_namespace = lookup("PMIX_NAMESPACE");
  if (!seed && !pmix_namespace) return false;
  if (const Status read = read_openmpi_place(lookup, facts); !read)
    return tl::unexpected(read.error());
  if (seed && seed->size() >= 32) {
    facts.seed = *seed;
    facts.job = "ompi-" + public_name("livebtl job id", *seed);
  } else {
    const std::string_view family =
        std::string_view(pmix_namespace ? *pmix_namespace : *seed).substr(0, 256);
    facts.job = as_job_id("pmix-", family.substr(0, family.find('@')));
  }
  if (lookup("OMPI_PARENT_PORT")) mark_spawned(facts, pmix_namespace.value_or(""));
  return true;
}

Result<bool> read_pmi(const Lookup& lookup, const std::function<std::string()>& manager_id,
                      LauncherFacts& facts) {
  if (!lookup("PMI_RANK") || !lookup("PMI_SIZE")) return false;
  auto status = read_place(lookup, "PMI_RANK", "PMI_SIZE", facts);
  if (status) status = read_locality(lookup, "MPI_LOCALNRANKS", facts);
  if (!status) return tl::unexpected(status.error());
  const auto name = lookup("PMI_JOBID");
  facts.job = as_job_id("pmi-", name ? *name : manager_id());
  if (lookup("PMI_SPAWNED") == "1") mark_spawned(facts, "");
  return true;
}

Result<bool> read_slurm(const Lookup& lookup, LauncherFacts& facts) {
  if (!is_in_step(lookup)) return false;
  if (const Status read = read_step(lookup, facts); !read) return tl::unexpected(read.error());
  // A job that was requeued keeps the same numbers.
  const auto restarts = number(lookup, "SLURM_RESTART_COUNT", kRanksMax);
  if (!restarts) return tl::unexpected(restarts.error());
  const std::string again = restarts->value_or(0) == 0 ? "" : ".r" + std::to_string(**restarts);
  facts.job = as_job_id("slurm-", *lookup("SLURM_JOB_ID") + "." + *lookup("SLURM_STEP_ID") + again);
  return true;
}

}  // namespace

std::optional<std::string> find_variable(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::size_t end = std::min(environment.find('\0'), environment.size());
    const std::string_view line = environment.substr(0, end);
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=')
      return std::string(line.substr(name.size() + 1));
    environment.remove_prefix(std::min(end + 1, environment.size()));
  }
  return std::nullopt;
}

bool valid_job_id(std::string_view id) noexcept {
  return id.size() <= kJobIdMax && is_plain_name(id) && id.find_first_of("._-") != 0;
}

std::string process_manager_id() {
  const pid_t parent = getppid();
  const auto name_of = [](pid_t pid, const ProcessStat& stat) {
    return std::to_string(pid) + "-" + std::to_string(stat.start);
  };
  constexpr int kAncestorsMax = 32;
  pid_t pid = parent;
  for (int i = 0; i < kAncestorsMax && pid > 1; ++i) {
    const auto line = read_process_stat(pid);
    if (!line) break;
    if (line->name == "hydra_pmi_proxy") {  // mpiexec, if here, is shared with spawned jobs
      const auto above = read_process_stat(line->parent);
      const bool mpiexec = above && above->name.starts_with("mpiexec");
      return mpiexec ? name_of(line->parent, *above) : name_of(pid, *line);
    }
    pid = line->parent;
  }
  const auto line = read_process_stat(parent);
  return line ? name_of(parent, *line) : std::to_string(parent);
}

std::string name_by(std::string_view seed) { return public_name("livebtl job id", seed); }

Result<LauncherFacts> read_launcher(const Lookup& lookup, const Lookup& at_start,
                                    const std::function<std::string()>& manager_id) {
  LauncherFacts facts;
  auto found = read_openmpi(lookup, at_start, facts);
  if (found && !*found) found = read_pmi(lookup, manager_id, facts);
  if (found && !*found) found = read_slurm(lookup, facts);
  if (!found) return tl::unexpected(found.error());
  return facts;
}

}  // namespace livebtl::control
