// SPDX-License-Identifier: BSD-3-Clause
// launch/plan.cc -- see plan.h.
#include "launch/plan.h"

#include <algorithm>
#include <span>

#include "base/settings.h"
#include "launch/draft.h"
#include "launch/rdma.h"

namespace livebtl::launch {
namespace {

/// Adds verbs if an RDMA device is usable, unless a setting chooses.
void use_rdma(Draft& draft, bool file_transports) {
  const auto is_set = [&](const char* name) {
    return !draft.system.variable(name).value_or("").empty();
  };
  if (file_transports || is_set("LIVEBTL_TRANSPORTS") || is_set("FI_LIVEBTL_TRANSPORTS")) return;
  if (has_usable_port(draft.system)) draft.set("LIVEBTL_TRANSPORTS", "+verbs");
}

/// Open MPI's mpirun gives its processes something that only they know; the others do not, or only
/// with PMIx.
bool lacks_seed(const Draft& draft) {
  constexpr const char* kGiven[] = {"SECRET_FD", "SECRET_FILE", "SEED"};
  const auto is_given = [&](const std::string& name) {
    return !draft.system.variable("LIVEBTL_" + name).value_or("").empty() ||
           !draft.system.variable("FI_LIVEBTL_" + name).value_or("").empty();
  };
  return draft.plan.launcher.family != Family::kOpenMpi &&
         std::none_of(std::begin(kGiven), std::end(kGiven), is_given);
}

/// The variables that Open MPI's mpirun must be told to pass on to other nodes: our settings, and
/// what we set for libfabric. It passes on OMPI_MCA_* by itself.
std::vector<std::string> passed_on(const Draft& draft) {
  std::vector<std::string> names;
  for (const auto& [name, value] : draft.plan.variables) {
    if (!name.starts_with(kMca)) names.push_back(name);
  }
  for (const SettingInfo& setting : setting_table()) {
    for (const char* prefix : {"LIVEBTL_", "FI_LIVEBTL_"}) {
      const std::string name = prefix + std::string(setting.name);
      if (setting.name == "SECRET_FD" || draft.system.variable(name).value_or("").empty()) continue;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

/// Is it passed as `-x NAME` or `-x NAME=VALUE` before the line's next part?
bool is_passed(std::span<const std::string> words, const std::string& name) {
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != ":"; ++i) {
    if (words[i] == "-x" && words[i + 1].substr(0, words[i + 1].find('=')) == name) return true;
  }
  return false;
}

/// Each part of the line (':' begins a new one) needs its own -x words.
void pass_on(Draft& draft) {
  const std::span<const std::string> words(draft.words);
  const auto names = passed_on(draft);
  for (std::size_t i = 0; i < words.size(); ++i) {
    draft.plan.words.push_back(words[i]);
    if (i != 0 && words[i] != ":") continue;
    for (const std::string& name : names) {
      if (is_passed(words.subspan(i + 1), name)) continue;
      draft.plan.words.emplace_back("-x");
      draft.plan.words.push_back(name);
    }
  }
}

Status choose(Draft& draft) {
  switch (draft.plan.launcher.family) {
    case Family::kOpenMpi:
      return draft_for_open_mpi(draft, beside(draft.system, draft.plan.launcher.path, "ompi_info"));
    case Family::kHydra:
      return draft_for_hydra(draft);
    case Family::kSlurm:
      break;
  }
  return draft_for_slurm(draft);
}

}  // namespace

Result<Plan> make_plan(const System& system, const Places& places,
                       const std::vector<std::string>& words, const Wishes& wishes,
                       bool file_transports) {
  auto launcher = find_launcher(system, words.front());
  if (!launcher) return tl::unexpected(launcher.error());
  Draft draft{system, places, words, wishes};
  draft.plan.launcher = std::move(*launcher);
  if (Status chosen = choose(draft); !chosen) return tl::unexpected(chosen.error());
  use_rdma(draft, file_transports);
  draft.plan.needs_seed = lacks_seed(draft);
  if (draft.plan.launcher.family == Family::kOpenMpi) {
    pass_on(draft);
  } else {
    draft.plan.words = words;
  }
  return std::move(draft.plan);
}

std::string as_shell_line(const Plan& plan) {
  std::string line;
  for (const auto& [name, value] : plan.variables) line += name + "=" + shell_quoted(value) + " ";
  if (plan.needs_seed)
    line += "LIVEBTL_SEED=$(od -A n -t x1 -v -N 32 /dev/urandom | tr -d ' \\n') ";
  for (const std::string& word : plan.words)
    line += (&word == &plan.words.front() ? "" : " ") + shell_quoted(word);
  return line;
}

std::string shell_quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace livebtl::launch
