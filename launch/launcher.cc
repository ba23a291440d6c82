// SPDX-License-Identifier: BSD-3-Clause
// launch/launcher.cc -- see launcher.h.
#include "launch/launcher.h"

#include <algorithm>
#include <array>
#include <optional>

namespace livebtl::launch {
namespace {

constexpr std::size_t kWhyBytesMax = 200;

bool is_file_named(const std::string& path, std::string_view prefix) {
  const std::size_t slash = path.rfind('/');
  return std::string_view(path)
      .substr(slash == std::string::npos ? 0 : slash + 1)
      .starts_with(prefix);
}

Program as_program(const System& system, const std::string& path, const Libraries& libraries) {
  Program program;
  program.has_libfabric = !library_named(libraries, "libfabric.so").empty();
  // MPICH's library goes by three names, two of which begin like Open MPI's.
  for (const char* name : {"libmpich.so", "libmpi.so.12", "libmpi.so.40"}) {
    const std::string found = library_named(libraries, name);
    if (found.empty()) continue;
    program.path = path;
    program.mpi = std::string_view(name) == "libmpi.so.40" ? Mpi::kOpenMpi : Mpi::kMpich;
    program.mpi_library = system.resolved(found).value_or(found);
  }
  return program;
}

std::optional<Launcher> launcher_that_says(const std::string& said, const std::string& path) {
  const auto is = [&said](std::string_view mark) { return said.find(mark) != std::string::npos; };
  if (is("(Open MPI)")) return Launcher{Family::kOpenMpi, path, version_behind(said, "(Open MPI)")};
  if (is("HYDRA")) return Launcher{Family::kHydra, path, version_behind(said, "Version:")};
  if (!said.starts_with("slurm")) return std::nullopt;
  const std::size_t space = std::min(said.find(' '), said.size());
  return Launcher{Family::kSlurm, path, version_behind(said.substr(space), "")};
}

/// Is it named like a launcher? Also mpiexec.hydra, mpirun.openmpi, mpirun-4.1 and their like. Nothing
/// else is run to be asked what it is: it could be the user's own program.
bool is_named_launcher(const std::string& path) {
  constexpr std::array<std::string_view, 5> kNames{"mpirun", "mpiexec", "orterun", "prterun",
                                                   "srun"};
  constexpr std::array<std::string_view, 3> kMakers{"openmpi", "mpich", "hydra"};
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  const std::size_t end = std::min(name.find_first_of(".-"), name.size());
  if (std::find(kNames.begin(), kNames.end(), name.substr(0, end)) == kNames.end()) return false;
  if (end == name.size()) return true;
  const std::string_view variant = name.substr(end + 1);
  return variant.find_first_not_of("0123456789.") == std::string_view::npos ||
         std::find(kMakers.begin(), kMakers.end(), variant) != kMakers.end();
}

Error unknown_launcher(const std::string& word) {
  return {Errc::kUnsupported,
          word +
              " is no launcher that is known here (mpirun or mpiexec of Open MPI or MPICH, "
              "srun); put livebtl-run right before the launcher"};
}

/// Why a launcher does not tell its version: its last line, as from an srun without Slurm's
/// configuration.
Error broken_launcher(const std::string& word, const Ran& ran) {
  std::string why = ran.exit_code < 0 ? "it does not end" : "it says nothing";
  for (const std::string& line : lines_of(ran.output)) {
    if (!trimmed(line).empty()) why = std::string(trimmed(line)).substr(0, kWhyBytesMax);
  }
  return {Errc::kUnsupported, "`" + word + " --version` fails, so no job can be started by it: " +
                                  why + "; fix that first"};
}

}  // namespace

std::string version_behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return "";
  text = trimmed(text.substr(at + mark.size()));
  const std::size_t end = text.find_first_not_of("0123456789.");
  return std::string(text.substr(0, std::min(end, text.size())));
}

Result<Launcher> find_launcher(const System& system, const std::string& word) {
  const auto path = program_of(system, word);
  if (!path) {
    return fail(
        Errc::kNotFound,
        "there is no program " + word +
            " here; install what has it (Debian: openmpi-bin, mpich, slurm-client), load its "
            "module, or give the launcher's path");
  }
  if (!is_named_launcher(*path)) return tl::unexpected(unknown_launcher(word));
  const Ran ran = system.run({*path, "--version"});
  if (ran.output.find("Intel(R) MPI") != std::string::npos) {
    return fail(Errc::kUnsupported,
                word +
                    " is Intel MPI's, with which livebtl was never tested; Open MPI 4.1 and 5.0 "
                    "and MPICH are served");
  }
  if (auto launcher = launcher_that_says(ran.output, *path)) return std::move(*launcher);
  return tl::unexpected(ran.exit_code != 0 ? broken_launcher(word, ran) : unknown_launcher(word));
}

std::string beside(const System& system, const std::string& program, const std::string& name) {
  for (const std::string& place : {program, system.resolved(program).value_or(program)}) {
    std::string path = directory_of(place) + "/" + name;
    if (system.may_execute(path)) return path;
  }
  return "";
}

Libraries libraries_of(const System& system, const std::string& file) {
  Libraries libraries;
  const auto ldd = program_of(system, "ldd");
  if (!ldd) return libraries;
  for (const std::string& line : lines_of(system.run({*ldd, file}).output)) {
    const std::string_view text = trimmed(line);
    const std::size_t arrow = text.find(" => ");
    if (arrow == std::string_view::npos) continue;
    const std::string_view target = text.substr(arrow + 4);
    if (target.starts_with("not found")) {
      libraries.missing.emplace_back(text.substr(0, arrow));
    } else if (target.starts_with('/')) {
      libraries.paths.emplace_back(target.substr(0, target.find(" (")));
    }
  }
  return libraries;
}

std::string library_named(const Libraries& libraries, std::string_view prefix) {
  const auto found =
      std::find_if(libraries.paths.begin(), libraries.paths.end(),
                   [prefix](const auto& path) { return is_file_named(path, prefix); });
  return found == libraries.paths.end() ? "" : *found;
}

Program find_program(const System& system, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.empty() || word.starts_with('-')) continue;
    const auto path = program_of(system, word);
    if (!path) continue;
    Program program = as_program(system, *path, libraries_of(system, *path));
    if (program.mpi != Mpi::kUnknown) return program;
  }
  return {};
}

}  // namespace livebtl::launch
