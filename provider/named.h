// SPDX-License-Identifier: BSD-3-Clause
// provider/named.h -- has anybody asked for this provider by name? libfabric loads it wherever it
// is installed, and a program that names none must run as it would without it
// (docs/adr/0072-only-by-its-name.md).
//
// Threads: any. The environment is read, and Open MPI's parameters as Open MPI has set them.
#pragma once

#include <rdma/fabric.h>

#include <functional>
#include <string>

namespace livebtl::fi {

/// Looks up an environment variable; nullptr: not set.
using Environment = std::function<const char*(const char* name)>;

/// A parameter of the Open MPI that this process has loaded, wherever it was set (a file, the
/// environment, the command line); "": none is loaded, or the parameter has no value.
std::string open_mpi_parameter(const char* name);
using Parameters = std::function<std::string(const char* name)>;

/// Is a job's name set for livebtl?
bool names_job(const Environment& environment);
/// Does one of the lists that choose providers name ours?
bool is_chosen(const Environment& environment, const Parameters& parameters);
/// The same, or do the hints of fi_getinfo (may be null) name it, or is a job's name set?
bool is_named(const fi_info* hints, const Environment& environment, const Parameters& parameters);

}  // namespace livebtl::fi
