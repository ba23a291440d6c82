// SPDX-License-Identifier: BSD-3-Clause
// doctor/doors_check.cc -- library, provider and component: do they load, and do they fit one
// another and the MPI?
#include "doctor/sight.h"

namespace livebtl::doctor {
namespace {

using launch::Libraries;

constexpr const char* kNoDoor = "Without it no program reaches livebtl by libfabric.";

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// Where the library is that the provider, else the component, is linked with; "": not found.
std::string library_path(const Sight& sight) {
  for (const std::string& plugin :
       {sight.places.provider.empty() ? "" : launch::provider_file(sight.places),
        sight.places.components.empty() ? "" : launch::component_file(sight.places)}) {
    if (plugin.empty()) continue;
    const std::string found =
        launch::library_named(launch::libraries_of(sight.system, plugin), "liblivebtl.so");
    if (!found.empty()) return sight.system.resolved(found).value_or(found);
  }
  return "";
}

void check_variables(const Sight& sight, Report& report) {
  const auto path = sight.system.variable("FI_PROVIDER_PATH");
  if (path && !path->empty() && !sight.by_run &&  // livebtl-run puts ours in front
      (":" + *path + ":").find(":" + sight.places.provider + ":") == std::string::npos) {
    report.fault(
        "fi-provider-path",
        "FI_PROVIDER_PATH is " + *path + ", and livebtl's provider is in " + sight.places.provider,
        "libfabric looks for providers there alone (livebtl-run fixes that for its job).",
        "unset FI_PROVIDER_PATH, or export FI_PROVIDER_PATH=" + sight.places.provider +
            ":$FI_PROVIDER_PATH");
  }
  const std::string chosen = sight.system.variable("FI_PROVIDER").value_or("");
  const bool named = chosen.find("livebtl") != std::string::npos;
  if (!chosen.empty() && named == chosen.starts_with('^')) {
    report.fault("fi-provider", "FI_PROVIDER is " + chosen,
                 "It keeps livebtl's provider from every program that uses libfabric.",
                 "unset FI_PROVIDER");
  }
}

/// libfabric silently passes over a provider that was built for another version of it.
void check_listed(const Sight& sight, Report& report) {
  const auto info = launch::program_of(sight.system, "fi_info");
  if (!info) return;
  const auto ran =
      sight.system.run({*info, "-p", "livebtl"},
                       {{"FI_PROVIDER_PATH", sight.places.provider}, {"FI_PROVIDER", "livebtl"}});
  if (ran.output.find("provider: livebtl") != std::string::npos) {
    report.fact("provider", launch::provider_file(sight.places) + " serves");
    return;
  }
  report.fault("provider-not-listed",
               "libfabric does not list the provider, though its libraries are there", kNoDoor,
               "build livebtl against this libfabric (fi_info --version); FI_LOG_LEVEL=info "
               "fi_info -p livebtl says more");
}

void name_component(const Sight& sight, const launch::OpenMpi& mpi, const Error& error,
                    bool provider_serves, Report& report) {
  const Libraries libraries =
      launch::libraries_of(sight.system, launch::component_file(sight.places));
  if (!libraries.missing.empty()) {
    report.fault(
        "component-libraries",
        launch::component_file(sight.places) + " needs " + joined(libraries.missing) +
            ", which is not found",
        "Open MPI passes over a component that it cannot load. It may be of another release of "
        "Debian, whose Open MPI is another one than this, " +
            mpi.version + ".",
        "install the livebtl package that was built for this release of Debian (apt policy "
        "livebtl), "
        "and the packages of these libraries");
    return;
  }
  report.fault(
      "component-version", error.text,
      provider_serves
          ? "Programs of this Open MPI go by the provider, which costs more for each message."
          : "Programs of this Open MPI cannot reach livebtl.",
      "build livebtl against Open MPI " + mpi.version +
          "'s headers, or install the package made for it; if its files or the environment set "
          "mca_base_component_disable_dlopen, take that out");
}

/// Mistakes in Open MPI's parameter files.
void check_mca_files(const Sight& sight, const launch::OpenMpi& mpi, Report& report) {
  if (const std::string line = launch::joined_line_in_files(sight.system, mpi); !line.empty())
    report.fault("mca-file", "two lines of Open MPI's parameters are one: " + line,
                 "Neither says what it was meant to, and jobs may end in MPI_Init.",
                 "end the line before with a line feed");
}

void check_mca(const Sight& sight, Report& report) {
  const auto pml = sight.system.variable("OMPI_MCA_pml");
  if (pml && *pml != "livebtl" && *pml != "cm" && !pml->starts_with('^')) {
    report.fault("mca-environment", "OMPI_MCA_pml is set to " + *pml,
                 "Every job of this shell uses that, and not livebtl.", "unset OMPI_MCA_pml");
  }
}

/// How programs of this Open MPI reach livebtl.
void check_doors(const Sight& sight, const launch::OpenMpi& mpi, Report& report) {
  const auto mtl = launch::has_component(sight.system, mpi, "mtl", "ofi");
  if (!mtl) {
    report.fault("open-mpi", mtl.error().text, "Programs that load the same file end like that.",
                 "dpkg --verify");
    return;
  }
  const bool has_mtl = *mtl;
  const auto use = launch::check_component(sight.system, mpi, sight.places);
  if (use) {
    report.fact("Open MPI", mpi.version + ", by the component");
  } else if (has_mtl && use.error().code == Errc::kNotFound) {
    report.fact("Open MPI", mpi.version + ", by the provider: " + use.error().text);
  } else if (use.error().code != Errc::kNotFound) {
    name_component(sight, mpi, use.error(), has_mtl, report);
  } else {
    report.fault(
        "open-mpi-without-libfabric",
        "Open MPI " + mpi.version +
            " was built without libfabric, and livebtl's component is not there",
        "There is no way for its programs to reach livebtl.",
        "install Open MPI with libfabric (Debian's has it), or build livebtl's component for it");
  }
}

}  // namespace

void check_library(const Sight& sight, Report& report) {
  const std::string path = library_path(sight);
  if (path.empty()) return;  // the others name what is missing
  const std::size_t mark = path.rfind(".so.");
  const std::string version = mark == std::string::npos ? "" : path.substr(mark + 4);
  if (version != sight.version && version.find('.') != std::string::npos) {
    report.fault("library-version",
                 "this is btlctl " + sight.version + ", and programs load " + path,
                 "Commands and processes of two versions may not understand each other.",
                 "install both of one version: which -a btlctl; ldconfig -p | grep livebtl");
  } else {
    report.fact("library", path);
  }
  const std::string wanted = sight.settings.relay_path;
  const std::string relay =
      wanted.empty() ? launch::directory_of(path) + "/livebtl/livebtl-relay" : wanted;
  if (sight.system.may_execute(relay)) return;
  report.fault("relay",
               "there is no program " + relay + (wanted.empty() ? "" : " (LIVEBTL_RELAY_PATH)"),
               "A job of several nodes needs it on each: without it btlctl reaches the processes "
               "of one node alone.",
               wanted.empty() ? "install all of livebtl (apt install --reinstall livebtl)"
                              : "unset LIVEBTL_RELAY_PATH");
}

void check_provider(const Sight& sight, Report& report) {
  if (sight.places.provider.empty()) {
    report.fault(
        "provider-missing", "the libfabric provider liblivebtl-fi.so is not there", kNoDoor,
        "apt install --reinstall livebtl, or build it: cmake --build ... --target livebtl-fi");
    return;
  }
  const Libraries libraries =
      launch::libraries_of(sight.system, launch::provider_file(sight.places));
  if (!libraries.missing.empty()) {
    report.fault("provider-libraries",
                 launch::provider_file(sight.places) + " needs " + joined(libraries.missing) +
                     ", which is not found",
                 "libfabric passes over a provider that it cannot load, without a word.",
                 "apt install --reinstall livebtl, and the packages of these libraries");
    return;
  }
  check_variables(sight, report);
  check_listed(sight, report);
}

void check_open_mpi(const Sight& sight, Report& report) {
  check_mca(sight, report);
  const auto info = launch::program_of(sight.system, "ompi_info");
  if (!info) {
    report.fact("Open MPI", "not here");
    return;
  }
  const auto mpi = launch::open_mpi_of(sight.system, *info);
  if (!mpi) {
    report.fault("open-mpi", mpi.error().text, "What it can load cannot be asked.",
                 "ompi_info --version");
    return;
  }
  check_mca_files(sight, *mpi, report);
  check_doors(sight, *mpi, report);
}

}  // namespace livebtl::doctor
