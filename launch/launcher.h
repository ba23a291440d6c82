// SPDX-License-Identifier: BSD-3-Clause
// launch/launcher.h -- which launcher does a launch line begin with, and which MPI has the program in it?
//
// Found out by asking them: a launcher for its version, the dynamic loader for a program's libraries. Threads: any;
// nothing is kept. Errors: kNotFound (there is no such program), kUnsupported (none that we know, or one that fails).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launch/system.h"
#include "livebtl/result.h"

namespace livebtl::launch {

enum class Family { kOpenMpi, kHydra, kSlurm };

struct Launcher {
  Family family = Family::kOpenMpi;
  std::string path;     // as a shell would find it
  std::string version;  // "4.1.4"; "": it does not say
};

Result<Launcher> find_launcher(const System& system, const std::string& word);

/// The first "4.1.4" right behind `mark`; "": none.
std::string version_behind(std::string_view text, std::string_view mark);

/// The program that stands beside another one, links followed: ompi_info beside mpirun; "": it does not.
std::string beside(const System& system, const std::string& program, const std::string& name);

/// Of a program or library: what the dynamic loader finds for what it is linked with.
struct Libraries {
  std::vector<std::string> paths;
  std::vector<std::string> missing;  // names
};
Libraries libraries_of(const System& system, const std::string& file);
/// The path of the one whose file name begins so; "": none.
std::string library_named(const Libraries& libraries, std::string_view prefix);

enum class Mpi { kUnknown, kOpenMpi, kMpich };
/// The first program in a launch line that is linked with an MPI library; path "": none, as where a script or an
/// interpreter is run, which loads MPI later.
struct Program {
  std::string path;
  Mpi mpi = Mpi::kUnknown;
  std::string mpi_library;  // without links
  bool has_libfabric = false;
};
/// words: of the line, without the launcher.
Program find_program(const System& system, const std::vector<std::string>& words);

}  // namespace livebtl::launch
