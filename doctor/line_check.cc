// SPDX-License-Identifier: BSD-3-Clause
// doctor/line_check.cc -- would the job of this launch line run over livebtl, and what would keep it from that?
#include <algorithm>

#include "doctor/sight.h"
#include "launch/plan.h"

namespace livebtl::doctor {
namespace {

using launch::Family;

bool holds(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// What follows one of these words, or its '='; "": nothing.
std::string value_of(const std::vector<std::string>& words,
                     std::initializer_list<std::string_view> names) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const std::string_view name : names) {
      if (words[i] == name && i + 1 < words.size()) return words[i + 1];
      if (words[i].starts_with(std::string(name) + "=")) return words[i].substr(name.size() + 1);
    }
  }
  return "";
}

/// Does the line, as far as it shows, name several nodes?
bool names_several_nodes(const std::vector<std::string>& words, Family family) {
  if (family == Family::kSlurm) {
    const std::string count = value_of(words, {"-N", "--nodes"});
    return !count.empty() && count != "1";
  }
  const std::string hosts = value_of(words, {"--host", "-host", "-H", "--hosts", "-hosts"});
  return hosts.find(',') != std::string::npos ||
         !value_of(words, {"--hostfile", "-hostfile", "--machinefile", "-f"}).empty();
}

/// Open MPI's launchers do, in the environment or by PMIx; Slurm does by PMIx (docs/adr/0054).
bool gives_secret(const Sight& sight, const std::vector<std::string>& words,
                  const launch::Launcher& launcher) {
  if (launcher.family != Family::kSlurm) return launcher.family == Family::kOpenMpi;
  const std::string asked = value_of(words, {"--mpi"});
  return (asked.empty() ? sight.system.variable("SLURM_MPI_TYPE").value_or("") : asked)
      .starts_with("pmix");
}

/// livebtl-run gives a seed if nothing else is given.
void check_secret(const Sight& sight, const std::vector<std::string>& words,
                  const launch::Launcher& launcher, bool by_run, Report& report) {
  const Settings& settings = sight.settings;
  const bool given =
      by_run || !settings.secret_file.empty() || settings.secret_fd >= 0 || !settings.seed.empty();
  if (settings.auth == AuthLevel::kNone || given) return;
  if (gives_secret(sight, words, launcher) || !names_several_nodes(words, launcher.family)) return;
  report.fault("line-secret", "the job has several nodes, and its launcher gives it no secret",
               "The nodes' processes cannot prove to one another that they belong to the job, and "
               "refuse each other.",
               "head -c 32 /dev/urandom >~/.livebtl-secret && chmod 600 ~/.livebtl-secret; export "
               "LIVEBTL_SECRET_FILE=~/.livebtl-secret");
}

void check_root(const Sight& sight, const std::vector<std::string>& words,
                const launch::Launcher& launcher, Report& report) {
  const bool allowed = holds(words, "--allow-run-as-root") ||
                       sight.system.variable("OMPI_ALLOW_RUN_AS_ROOT").has_value();
  if (launcher.family != Family::kOpenMpi || !sight.probe.root || allowed) return;
  report.fault("line-root", "you are root",
               "Open MPI's mpirun starts nothing for root unless it is told to.",
               "add --allow-run-as-root, or be another user");
}

/// Only the launcher knows which of its words are values of options: one that is a program is
/// enough.
void check_program(const Sight& sight, const std::vector<std::string>& words, Report& report) {
  const auto runs = [&sight](const std::string& word) {
    return !word.empty() && !word.starts_with('-') && launch::program_of(sight.system, word);
  };
  if (std::any_of(words.begin() + 1, words.end(), runs)) return;
  report.fault("line-program", "no word behind " + words.front() + " is a program of this node",
               "The launcher will find nothing to start.",
               "look at the program's path, and whether it may be executed");
}

/// Does the line, or the environment, choose livebtl without livebtl-run?
bool chooses_livebtl(const Sight& sight, const launch::Plan& plan) {
  return std::none_of(plan.variables.begin(), plan.variables.end(),
                      [](const auto& each) {
                        return each.first.starts_with("OMPI_MCA_") || each.first.starts_with("FI_");
                      }) &&
         (sight.system.variable("FI_PROVIDER").has_value() ||
          plan.launcher.family != Family::kHydra);
}

void name_refusal(const Error& error, const std::string& launcher, Report& report) {
  const bool contradicts = error.code == Errc::kInvalid;
  report.fault(contradicts ? "line-contradicts" : "line-cannot", error.text,
               "The job would not run over livebtl.",
               contradicts ? "take out what is named, or leave livebtl out"
                           : "fix what is named; livebtl-run --show " + launcher +
                                 " ... says whether that was all");
}

/// Do Open MPI's own parameter files choose livebtl, as a site may have written them?
bool chosen_by_files(const Sight& sight, Family family) {
  if (family != Family::kOpenMpi) return false;
  const auto info = launch::program_of(sight.system, "ompi_info");
  if (!info) return false;
  const auto mpi = launch::open_mpi_of(sight.system, *info);
  if (!mpi) return false;
  const auto set = [&](const char* name) {
    return launch::parameter_in_files(sight.system, *mpi, name);
  };
  const std::string pml = set("pml");  // each call asks ompi_info
  return pml == "livebtl" || (pml == "cm" && set("mtl") == "ofi" &&
                              set("opal_common_ofi_provider_include") == "livebtl");
}

}  // namespace

void check_line(const Sight& sight, const std::vector<std::string>& words,
                const launch::Wishes* by_run, Report& report) {
  const auto launcher = launch::find_launcher(sight.system, words.front());
  if (!launcher) {
    report.fault("line-launcher", launcher.error().text,
                 "There is nothing that would start the job.", "type -a mpirun mpiexec srun");
    return;
  }
  check_root(sight, words, *launcher, report);
  check_program(sight, words, report);
  check_secret(sight, words, *launcher, by_run != nullptr, report);
  const auto plan = launch::make_plan(sight.system, sight.places, words,
                                      by_run != nullptr ? *by_run : launch::Wishes{},
                                      !sight.settings.transports.empty());
  if (!plan) return name_refusal(plan.error(), words.front(), report);
  if (by_run == nullptr && chosen_by_files(sight, launcher->family)) {
    report.fact("launch line", "as it is: Open MPI's files of parameters choose livebtl");
    return;
  }
  report.fact(
      by_run != nullptr ? "launch line" : "with livebtl-run",
      std::string("by the ") + launch::name_of(plan->door) + ": " + launch::as_shell_line(*plan));
  if (by_run != nullptr || chooses_livebtl(sight, *plan)) return;
  report.fault("line-without", "the line does not choose livebtl",
               "The job runs, but not over livebtl, and btlctl does not see it.",
               "livebtl-run " + words.front() + " ...");
}

}  // namespace livebtl::doctor
