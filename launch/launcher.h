// SPDX-License-Identifier: BSD-3-Clause
// launch/launcher.h -- which launcher does a launch line begin with, and which MPI does its program
// use?
//
// Asks a launcher for its version, and the dynamic loader for a program's libraries. Threads: any;
// nothing is kept. Errors: kNotFound (there is no such program), kUnsupported (one we do not know,
// or that fails).
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

/// The "4.1.4" right after the first `mark`; "": none.
std::string version_behind(std::string_view text, std::string_view mark);

/// The program beside another one, or beside its target if it is a link: ompi_info beside mpirun;
/// "": none.
std::string beside(const System& system, const std::string& program, const std::string& name);

/// What the dynamic loader finds of the libraries that a program or library needs.
struct Libraries {
  std::vector<std::string> paths;
  std::vector<std::string> missing;  // names
};
Libraries libraries_of(const System& system, const std::string& file);
/// The path of the first whose file name begins so; "": none.
std::string library_named(const Libraries& libraries, std::string_view prefix);

enum class Mpi { kUnknown, kOpenMpi, kMpich };
/// The first program in a launch line that is linked with an MPI library; path "": none, as with a
/// script or an interpreter, which loads MPI later.
struct Program {
  std::string path;
  Mpi mpi = Mpi::kUnknown;
  std::string mpi_library;  // without links
  bool has_libfabric = false;
};
/// words: of the line, without the launcher.
Program find_program(const System& system, const std::vector<std::string>& words);

}  // namespace livebtl::launch
