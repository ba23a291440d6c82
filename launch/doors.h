// SPDX-License-Identifier: BSD-3-Clause
// launch/doors.h -- the two doors to livebtl (docs/OMPI.md): where they lie, and whether an MPI can use them.
//
// An MPI is asked by its own tools (ompi_info, mpichversion), which load what a job would load. Threads: any; nothing
// is kept.
#pragma once

#include <string>
#include <vector>

#include "launch/launcher.h"
#include "launch/system.h"
#include "livebtl/result.h"

namespace livebtl::launch {

enum class Door { kComponent, kProvider };
const char* name_of(Door door) noexcept;

/// Directories of the livebtl that a program of ours belongs to; "": the file is not there.
struct Places {
  std::string provider;    // liblivebtl-fi.so
  std::string components;  // mca_pml_livebtl.so
};
/// executable: the path of that program; it lies in a build tree or in an installed one. library_from_programs: how
/// an installed one's libraries are reached from the folder of its programs, as in "../lib".
Places find_places(const System& system, const std::string& executable,
                   const std::string& library_from_programs);

std::string provider_file(const Places& places);
std::string component_file(const Places& places);

/// Does libfabric find the provider there without a word, as it lies in libfabric's own folder?
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
/// info: path of an ompi_info. Errors: kUnsupported (it says nothing of use).
Result<OpenMpi> open_mpi_of(const System& system, const std::string& info);

/// Has it a component of this name? As in ("mtl", "ofi"). Errors: kUnsupported (asked for that it does not answer).
Result<bool> has_component(const System& system, const OpenMpi& mpi, const std::string& framework,
                           const std::string& component);

/// What its files of parameters set, the user's first (mca_base_param_files); "": nothing. Of several lines of a file the
/// last one counts.
std::string parameter_in_files(const System& system, const OpenMpi& mpi, const std::string& name);
/// A line of these files that two were meant to be, as when one is added behind a last line that does not end: "FILE:
/// LINE"; "": none.
std::string joined_line_in_files(const System& system, const OpenMpi& mpi);

/// How a component that it can use is found.
struct ComponentUse {
  bool by_itself = false;  // in a folder where this Open MPI looks without a word
  std::string path;        // else the value of mca_base_component_path
};
/// Errors: kNotFound (there is no component), kUnsupported (this Open MPI cannot use it; why).
Result<ComponentUse> check_component(const System& system, const OpenMpi& mpi,
                                     const Places& places);

/// The device that an MPICH is built for, as mpichversion says: "ch4:ofi"; "": not known.
std::string mpich_device(const System& system, const std::string& beside_program);

}  // namespace livebtl::launch
