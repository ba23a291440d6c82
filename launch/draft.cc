// SPDX-License-Identifier: BSD-3-Clause
// launch/draft.cc -- see draft.h.
#include "launch/draft.h"

#include <algorithm>

#include "launch/line_words.h"

namespace livebtl::launch {
namespace {

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

/// The user's value of a variable, in the line or the environment.
std::optional<std::string> chosen_for_program(const Draft& draft, const std::string& name) {
  const auto in_line = variable_in_line(draft.words, name);
  return in_line ? in_line : draft.system.variable(name);
}

/// Lets libfabric find the provider; an error if a setting forbids it.
Status let_find_provider(Draft& draft) {
  if (Status good = check_provider(draft.system, draft.places); !good) return good;
  const auto chosen = chosen_for_program(draft, "FI_PROVIDER");
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

/// The launcher's own words; all of them where no word is known to be the program.
std::vector<std::string> words_before(const Draft& draft, const Program& program) {
  const auto end = std::find_if(draft.words.begin() + 1, draft.words.end(), [&](const auto& word) {
    return !program.path.empty() && program_of(draft.system, word) == program.path;
  });
  return {draft.words.begin(), end};
}

/// Otherwise MPICH's own shared memory carries the messages within a node.
Status keep_shared_memory_out(Draft& draft) {
  const std::string name = "MPIR_CVAR_NOLOCAL";
  const auto chosen = chosen_for_program(draft, name);
  if (!chosen) draft.set(name, "1");
  for (const char* off : {"0", "no", "NO", "false", "FALSE", "off"}) {
    if (chosen == off) {
      return fail(Errc::kInvalid,
                  name + " is set to " + *chosen +
                      ", which keeps the processes of a node off livebtl; unset it");
    }
  }
  return {};
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
  if (!chosen_for_program(draft, "FI_PROVIDER")) draft.set("FI_PROVIDER", "livebtl");
  return keep_shared_memory_out(draft);
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
  if (const std::string word = withholding_word(draft.words); !word.empty()) {
    return fail(Errc::kInvalid, word +
                                    " keeps livebtl's variables from the program; leave it out, "
                                    "and set what the program needs by -genv NAME VALUE");
  }
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
  const std::vector<std::string> behind(draft.words.begin() + 1, draft.words.end());
  const Program program = find_program(draft.system, behind);
  const auto in_line = srun_export(words_before(draft, program));
  const auto exported = in_line ? in_line : draft.system.variable("SLURM_EXPORT_ENV");
  if (exported && !exports_all(*exported)) {
    return fail(Errc::kInvalid, std::string(in_line ? "--export" : "SLURM_EXPORT_ENV") + " is " +
                                    *exported +
                                    ", so srun would keep livebtl's variables from the program; "
                                    "leave it out, or begin it with ALL, as in ALL,NAME=VALUE");
  }
  if (program.mpi == Mpi::kMpich) return for_mpich(draft, program);
  const std::string info = program_of(draft.system, "ompi_info").value_or("");
  if (!info.empty()) return draft_for_open_mpi(draft, info);
  return fail(Errc::kUnsupported,
              "no word of the line is a program that is linked with an MPI, and there is no "
              "ompi_info here: load the module of the MPI that the program uses");
}

}  // namespace livebtl::launch
