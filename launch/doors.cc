// SPDX-License-Identifier: BSD-3-Clause
// launch/doors.cc -- see doors.h.
#include "launch/doors.h"

#include <algorithm>
#include <array>

namespace livebtl::launch {
namespace {

constexpr const char* kProviderFile = "liblivebtl-fi.so";
constexpr const char* kComponentFile = "mca_pml_livebtl.so";
constexpr std::string_view kServes = "mca:pml:livebtl:param:pml_livebtl_serves:value:";

/// What follows `key` in lines of KEYVALUE; "": no such line.
std::string value_of(const std::string& text, std::string_view key) {
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with(key)) continue;
    std::string_view value = trimmed(std::string_view(line).substr(key.size()));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);  // ompi_info quotes what has a ':' in it
    return std::string(value);
  }
  return "";
}

/// What the component says of itself under that Open MPI: "yes", or why not; "": not found or not
/// loaded.
std::string what_it_says(const System& system, const OpenMpi& mpi, const Variables& more) {
  return value_of(
      system.run({mpi.info, "--parsable", "--param", "pml", "livebtl", "--level", "9"}, more)
          .output,
      kServes);
}

/// The value of mca_base_component_path with our folder in it, after what the user has there.
std::string component_path(const System& system, const OpenMpi& mpi, const Places& places) {
  const auto users = system.variable("OMPI_MCA_mca_base_component_path");
  if (users && !users->empty()) {
    return (":" + *users + ":").find(":" + places.components + ":") != std::string::npos
               ? *users
               : *users + ":" + places.components;
  }
  // 4.1 finds none of its own components without the first word; 5.0's are in its library.
  return mpi.is_5() ? places.components : "SYSTEM_DEFAULT:" + places.components;
}

std::string first_directory_with(const System& system, const std::vector<std::string>& directories,
                                 const char* file) {
  const auto found =
      std::find_if(directories.begin(), directories.end(), [&](const std::string& directory) {
        return system.facts(directory + "/" + file).has_value();
      });
  return found == directories.end() ? "" : system.resolved(*found).value_or(*found);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::vector<std::string> parameter_files(const System& system, const OpenMpi& mpi) {
  std::string files = value_of(
      system.run({mpi.info, "--parsable", "--param", "mca", "base", "--level", "9"}).output,
      "mca:mca:base:param:mca_base_param_files:value:");
  std::replace(files.begin(), files.end(), ',', '\n');
  return lines_of(files);
}

}  // namespace

const char* name_of(Door door) noexcept {
  return door == Door::kComponent ? "component" : "provider";
}

Places find_places(const System& system, const std::string& executable,
                   const std::string& library_from_programs) {
  const std::string folder = directory_of(executable);
  const std::string built = folder + "/../lib", installed = folder + "/" + library_from_programs;
  return {first_directory_with(system, {built, installed + "/libfabric"}, kProviderFile),
          first_directory_with(system, {built + "/openmpi", installed + "/livebtl/openmpi"},
                               kComponentFile)};
}

std::string provider_file(const Places& places) { return places.provider + "/" + kProviderFile; }

std::string component_file(const Places& places) {
  return places.components + "/" + kComponentFile;
}

bool found_by_itself(const System& system, const Places& places) {
  const std::string libfabric =
      library_named(libraries_of(system, provider_file(places)), "libfabric.so");
  if (libfabric.empty()) return false;
  const std::string folder = directory_of(system.resolved(libfabric).value_or(libfabric));
  return system.resolved(folder + "/libfabric").value_or("") == places.provider;
}

Status check_provider(const System& system, const Places& places) {
  if (places.provider.empty()) {
    return fail(Errc::kNotFound,
                std::string("the libfabric provider ") + kProviderFile +
                    " is not there: it was not built, or its package is not installed");
  }
  const Libraries libraries = libraries_of(system, provider_file(places));
  if (libraries.missing.empty()) return {};
  return fail(Errc::kUnsupported, provider_file(places) + " cannot be loaded: it needs " +
                                      joined(libraries.missing) +
                                      "; install the packages of these libraries");
}

Result<OpenMpi> open_mpi_of(const System& system, const std::string& info) {
  const std::string version = version_behind(system.run({info, "--version"}).output, "Open MPI v");
  if (version.empty()) {
    return fail(
        Errc::kUnsupported,
        info + " does not say what version it is of; is this Open MPI installed completely?");
  }
  const std::string library = library_named(libraries_of(system, info), "libmpi.so");
  return OpenMpi{info, version, system.resolved(library).value_or("")};
}

Result<bool> has_component(const System& system, const OpenMpi& mpi, const std::string& framework,
                           const std::string& component) {
  const std::string key = "mca:" + framework + ":" + component + ":version:";
  const Ran ran = system.run({mpi.info, "--parsable", "--param", framework, component});
  if (ran.exit_code < 0) {
    return fail(Errc::kUnsupported, mpi.info +
                                        " gives no answer when it is asked for components, or is "
                                        "ended by a signal: a component's "
                                        "file may be damaged; dpkg --verify names it, apt install "
                                        "--reinstall repairs its package");
  }
  return !value_of(ran.output, key).empty();
}

std::string parameter_in_files(const System& system, const OpenMpi& mpi, const std::string& name) {
  for (const std::string& file : parameter_files(system, mpi)) {
    std::string found;
    for (const std::string& line : lines_of(system.file_text(file).value_or(""))) {
      const std::size_t equals = line.find('=');
      if (equals != std::string::npos && trimmed(std::string_view(line).substr(0, equals)) == name)
        found = trimmed(std::string_view(line).substr(equals + 1));
    }
    if (!found.empty()) return found;
  }
  return "";
}

std::string joined_line_in_files(const System& system, const OpenMpi& mpi) {
  constexpr std::array<std::string_view, 4> kOurs{"pml", "mtl", "btl",
                                                  "opal_common_ofi_provider_include"};
  for (const std::string& file : parameter_files(system, mpi)) {
    for (const std::string& line : lines_of(system.file_text(file).value_or(""))) {
      const std::string_view text = trimmed(line);
      const std::size_t last = text.rfind('=');
      if (text.starts_with('#') || last == text.find('=')) continue;
      const std::string_view before = trimmed(text.substr(0, last));
      if (std::any_of(kOurs.begin(), kOurs.end(),
                      [&](std::string_view name) { return before.ends_with(name); }))
        return file + ": " + std::string(text);
    }
  }
  return "";
}

Result<ComponentUse> check_component(const System& system, const OpenMpi& mpi,
                                     const Places& places) {
  std::string says = what_it_says(system, mpi, {});
  // The mpirun of 5.0 replaces the default path by one of its own.
  if (says == "yes" && (!mpi.is_5() || places.components.empty())) return ComponentUse{true, ""};
  if (says.empty() && places.components.empty()) {
    return fail(Errc::kNotFound,
                std::string("the component of Open MPI ") + kComponentFile +
                    " is not there: it was not built, or its package is not installed");
  }
  if (!places.components.empty()) {
    const std::string path = component_path(system, mpi, places);
    says = what_it_says(system, mpi, {{"OMPI_MCA_mca_base_component_path", path}});
    if (says == "yes") return ComponentUse{false, path};
  }
  if (!says.empty()) return fail(Errc::kUnsupported, says);
  const Libraries libraries = libraries_of(system, component_file(places));
  return fail(
      Errc::kUnsupported,
      "Open MPI " + mpi.version + " does not load " + component_file(places) +
          (libraries.missing.empty()
               ? "; it is of another version, or its own libraries are not where it was built"
               : ": it needs " + joined(libraries.missing)));
}

std::string mpich_device(const System& system, const std::string& beside_program) {
  const std::string path = beside(system, beside_program, "mpichversion");
  if (path.empty()) return "";
  for (const std::string& line : lines_of(system.run({path}).output)) {
    if (line.starts_with("MPICH Device:"))
      return std::string(trimmed(std::string_view(line).substr(line.find(':') + 1)));
  }
  return "";
}

}  // namespace livebtl::launch
