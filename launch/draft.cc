// SPDX-License-Identifier: BSD-3-Clause
// launch/draft.cc -- see draft.h.
#include "launch/draft.h"

#include <algorithm>

namespace livebtl::launch {
namespace {

bool is_mca_word(std::string_view word) noexcept {
  return word == "--mca" || word == "-mca" || word == "--gmca" || word == "-gmca" ||
         word == "--omca";
}

/// The value that the line itself gives an Open MPI parameter; it overrides a variable.
std::optional<std::string> mca_in_line(const std::vector<std::string>& words,
                                       std::string_view name) {
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (is_mca_word(words[i]) && words[i + 1] == name) return words[i + 2];
  }
  return std::nullopt;
}

/// The value that the line exports to the program (-x NAME=VALUE); it overrides our variable.
std::optional<std::string> exported_in_line(const std::vector<std::string>& words,
                                            const std::string& name) {
  std::optional<std::string> found;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "-x" && words[i + 1].starts_with(name + "="))
      found = words[i + 1].substr(name.size() + 1);
  }
  return found;
}

/// Sets an Open MPI parameter, unless it is set so already.
Status set_mca(Draft& draft, const std::string& name, const std::string& value) {
  const auto in_line = mca_in_line(draft.words, name);
  if (in_line && *in_line != value) {
    return fail(Errc::kInvalid, "the line says --mca " + name + " " + *in_line +
                                    ", but livebtl needs " + value + "; leave it out");
  }
  const std::string variable = std::string(kMca) + name;
  const auto users = draft.system.variable(variable);
  if (!in_line && users && *users != value) {
    return fail(Errc::kInvalid,
                variable + " is set to " + *users + ", but livebtl needs " + value + "; unset it");
  }
  if (!in_line && !users) draft.set(variable, value);
  return {};
}

Status set_all_mca(Draft& draft, const Variables& wanted) {
  for (const auto& [name, value] : wanted) {
    if (Status set = set_mca(draft, name, value); !set) return set;
  }
  return {};
}

/// The user's value of an Open MPI parameter in the line or environment.
std::optional<std::string> mca_of_user(const Draft& draft, const std::string& name) {
  const auto in_line = mca_in_line(draft.words, name);
  return in_line ? in_line : draft.system.variable(std::string(kMca) + name);
}

Status keeps_provider_out(const std::string& name, const std::string& value) {
  return fail(Errc::kInvalid,
              "Open MPI's parameter " + name + " is " + value +
                  ", which keeps livebtl's provider out; take it out of the line, of " +
                  std::string(kMca) + name + " and of openmpi-mca-params.conf");
}

/// Open MPI has synonyms for the parameters that choose providers. Another include would be used
/// silently instead of ours, and no include of ours may stand beside an exclude.
Status refuse_other_choices(const Draft& draft, const OpenMpi& mpi) {
  for (const std::string name : {"mtl_ofi_provider_include", "btl_ofi_provider_include"}) {
    std::optional<std::string> value = mca_of_user(draft, name);
    if (!value) value = parameter_in_files(draft.system, mpi, name);
    if (value && !value->empty() && value->find("livebtl") == std::string::npos)
      return keeps_provider_out(name, *value);
  }
  for (const std::string framework : {"opal_common_ofi", "mtl_ofi", "btl_ofi"}) {
    const std::string name = framework + "_provider_exclude";
    const auto value = mca_of_user(draft, name);
    if (value && !value->empty()) return keeps_provider_out(name, *value);
  }
  return {};
}

/// Lets libfabric find the provider; an error if a setting forbids it.
Status let_find_provider(Draft& draft) {
  if (Status good = check_provider(draft.system, draft.places); !good) return good;
  std::optional<std::string> chosen = exported_in_line(draft.words, "FI_PROVIDER");
  if (!chosen) chosen = draft.system.variable("FI_PROVIDER");
  const bool named = chosen && chosen->find("livebtl") != std::string::npos;
  const bool all_but = chosen && chosen->starts_with('^');
  if (chosen && !chosen->empty() && named == all_but) {
    return fail(Errc::kInvalid, "FI_PROVIDER is set to " + *chosen +
                                    ", which keeps livebtl's provider from the program; unset it");
  }
  const auto users = draft.system.variable("FI_PROVIDER_PATH");
  const std::string& ours = draft.places.provider;
  if (users && !users->empty()) {
    if ((":" + *users + ":").find(":" + ours + ":") == std::string::npos)
      draft.set("FI_PROVIDER_PATH", ours + ":" + *users);
  } else if (!found_by_itself(draft.system, draft.places)) {
    draft.set("FI_PROVIDER_PATH", ours);
  }
  return {};
}

Status set_one_sided(Draft& draft) {
  return set_all_mca(draft, {{"btl", "self,ofi"}, {"osc", "rdma"}});
}

Status by_component(Draft& draft, const OpenMpi& mpi, const ComponentUse& use) {
  draft.plan.door = Door::kComponent;
  if (!use.by_itself) draft.set(std::string(kMca) + "mca_base_component_path", use.path);
  // The mpirun of 5.0 also gives that path to PMIx, which complains in each rank of a file not its
  // own.
  const std::string complaints = "PMIX_MCA_mca_base_component_show_load_errors";
  if (!use.by_itself && mpi.is_5() && !draft.system.variable(complaints))
    draft.set(complaints, "none");
  if (Status set = set_mca(draft, "pml", "livebtl"); !set || !draft.wishes.one_sided) return set;
  if (Status alone = refuse_other_choices(draft, mpi); !alone) return alone;
  if (Status set = set_mca(draft, "opal_common_ofi_provider_include", "livebtl"); !set) return set;
  if (Status found = let_find_provider(draft); !found) return found;
  return set_one_sided(draft);
}

Status by_provider(Draft& draft, const OpenMpi& mpi) {
  const auto has_mtl = has_component(draft.system, mpi, "mtl", "ofi");
  if (!has_mtl) return tl::unexpected(has_mtl.error());
  if (!*has_mtl) {
    return fail(Errc::kUnsupported,
                "Open MPI " + mpi.version + " has no mtl/ofi: it was built without libfabric" +
                    (draft.plan.why_provider.empty()
                         ? ""
                         : ", and its component cannot be used: " + draft.plan.why_provider));
  }
  draft.plan.door = Door::kProvider;
  if (Status alone = refuse_other_choices(draft, mpi); !alone) return alone;
  if (Status found = let_find_provider(draft); !found) return found;
  // 5.0 starts what osc/rdma runs over only if ob1 is asked: docs/PROVIDER.md.
  const char* const pml = draft.wishes.one_sided && mpi.is_5() ? "^ucx" : "cm";
  Status set = set_all_mca(
      draft, {{"pml", pml}, {"mtl", "ofi"}, {"opal_common_ofi_provider_include", "livebtl"}});
  return !set || !draft.wishes.one_sided ? set : set_one_sided(draft);
}

Status for_mpich(Draft& draft, const Program& program) {
  if (draft.wishes.door == Door::kComponent)
    return fail(Errc::kUnsupported, "the component is one of Open MPI's, and this is MPICH");
  const std::string& of = program.path.empty() ? draft.plan.launcher.path : program.mpi_library;
  const std::string device = mpich_device(draft.system, draft.plan.launcher.path);
  if (!program.has_libfabric && device.find("ofi") == std::string::npos) {
    return fail(Errc::kUnsupported,
                of + " is an MPICH without libfabric" +
                    (device.empty() ? "" : " (" + device + ")") +
                    "; `scripts/mpich --install DIR` of livebtl's sources builds one with it");
  }
  draft.plan.door = Door::kProvider;
  if (Status found = let_find_provider(draft); !found) return found;
  if (!draft.system.variable("FI_PROVIDER")) draft.set("FI_PROVIDER", "livebtl");
  // Else MPICH's shared memory serves the processes of a node.
  if (!draft.system.variable("MPIR_CVAR_NOLOCAL")) draft.set("MPIR_CVAR_NOLOCAL", "1");
  return {};
}

}  // namespace

Status draft_for_open_mpi(Draft& draft, const std::string& info) {
  if (info.empty()) {
    return fail(Errc::kUnsupported,
                "there is no ompi_info beside " + draft.plan.launcher.path +
                    ", by which Open MPI says what it can load; install it (Debian: "
                    "apt install openmpi-bin)");
  }
  const auto mpi = open_mpi_of(draft.system, info);
  if (!mpi) return tl::unexpected(mpi.error());
  const Program program = find_program(draft.system, {draft.words.begin() + 1, draft.words.end()});
  if (program.mpi == Mpi::kMpich) {
    return fail(Errc::kUnsupported, program.path + " is linked with MPICH (" + program.mpi_library +
                                        "), and " + draft.words.front() + " is Open MPI's");
  }
  if (program.mpi == Mpi::kOpenMpi && !mpi->library.empty() &&
      program.mpi_library != mpi->library) {
    return fail(Errc::kUnsupported, program.path + " is linked with " + program.mpi_library +
                                        ", and " + draft.words.front() + " belongs to " +
                                        mpi->library + "; use the launcher of the same Open MPI");
  }
  if (draft.wishes.door != Door::kProvider) {
    const auto use = check_component(draft.system, *mpi, draft.places);
    if (use) return by_component(draft, *mpi, *use);
    if (draft.wishes.door == Door::kComponent) return tl::unexpected(use.error());
    draft.plan.why_provider = use.error().text;
  }
  return by_provider(draft, *mpi);
}

Status draft_for_hydra(Draft& draft) {
  const Program program = find_program(draft.system, {draft.words.begin() + 1, draft.words.end()});
  if (program.mpi == Mpi::kOpenMpi) {
    return fail(Errc::kUnsupported, program.path + " is linked with Open MPI (" +
                                        program.mpi_library + "), and " + draft.words.front() +
                                        " is MPICH's");
  }
  return for_mpich(draft, program);
}

/// srun starts programs of any MPI.
Status draft_for_slurm(Draft& draft) {
  const bool keeps_none =
      std::find(draft.words.begin(), draft.words.end(), "--export=NONE") != draft.words.end() ||
      draft.system.variable("SLURM_EXPORT_ENV") == "NONE";
  if (keeps_none) {
    return fail(Errc::kInvalid,
                "srun is told to give the program no variables (--export=NONE or "
                "SLURM_EXPORT_ENV), and livebtl needs some; leave that out");
  }
  const Program program = find_program(draft.system, {draft.words.begin() + 1, draft.words.end()});
  if (program.mpi == Mpi::kMpich) return for_mpich(draft, program);
  const std::string info = program_of(draft.system, "ompi_info").value_or("");
  if (!info.empty()) return draft_for_open_mpi(draft, info);
  return fail(Errc::kUnsupported,
              "no word of the line is a program that is linked with an MPI, and there is no "
              "ompi_info here: load the module of the MPI that the program uses");
}

}  // namespace livebtl::launch
