// SPDX-License-Identifier: BSD-3-Clause
// launch/doors.h -- the two doors to livebtl (docs/OMPI.md): where they are, and whether an MPI can
// use them.
//
// An MPI is asked through its own tools (ompi_info, mpichversion), which load what a job would.
// Threads: any; nothing is kept.
#pragma once

#include <string>
#include <vector>

#include "launch/launcher.h"
#include "launch/system.h"
#include "livebtl/result.h"

namespace livebtl::launch {

enum class Door { kComponent, kProvider };
const char* name_of(Door door) noexcept;

/// Directories of the livebtl that a program of ours belongs to; "": the file is missing.
struct Places {
  std::string provider;    // liblivebtl-fi.so
  std::string components;  // mca_pml_livebtl.so
};
/// executable: that program's path, in a build tree or an installed one. library_from_programs: the
/// way from an installed tree's programs to its libraries, such as "../lib".
Places find_places(const System& system, const std::string& executable,
                   const std::string& library_from_programs);

std::string provider_file(const Places& places);
std::string component_file(const Places& places);

/// Does libfabric find the provider by itself, since it is in libfabric's own folder?
bool found_by_itself(const System& system, const Places& places);
/// Errors: kNotFound (it is not there), kUnsupported (it cannot be loaded).
Status check_provider(const System& system, const Places& places);

/// An installed Open MPI.
struct OpenMpi {
  std::string info;     // its ompi_info
  std::string version;  // "5.0.7"
  std::string library;  // its libmpi, without links; "": not known
  bool is_5() const noexcept { return version.starts_with("5."); }
};
/// info: path of an ompi_info. Errors: kUnsupported (it says nothing useful).
Result<OpenMpi> open_mpi_of(const System& system, const std::string& info);

/// Does it have a component of this name, as in ("mtl", "ofi")? Errors: kUnsupported (ompi_info
/// does not answer).
Result<bool> has_component(const System& system, const OpenMpi& mpi, const std::string& framework,
                           const std::string& component);

/// The value in its parameter files, the user's first (mca_base_param_files); "": none. Of several
/// lines in a file the last one counts.
std::string parameter_in_files(const System& system, const OpenMpi& mpi, const std::string& name);
/// A line of these files that was meant to be two, as when one is appended to an unended last line:
/// "FILE: LINE"; "": none.
std::string joined_line_in_files(const System& system, const OpenMpi& mpi);

/// How it finds a component that it can use.
struct ComponentUse {
  bool by_itself = false;  // in a folder where this Open MPI looks by default
  std::string path;        // else the value of mca_base_component_path
};
/// Errors: kNotFound (there is no component), kUnsupported (why this Open MPI cannot use it).
Result<ComponentUse> check_component(const System& system, const OpenMpi& mpi,
                                     const Places& places);

/// The device that an MPICH is built for, as mpichversion says: "ch4:ofi"; "": not known.
std::string mpich_device(const System& system, const std::string& beside_program);

}  // namespace livebtl::launch
