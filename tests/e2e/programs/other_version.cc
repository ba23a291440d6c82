// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/other_version.cc -- loaded before Open MPI, makes it claim to be another
// version than the one that the component was built for.
#include <mpi.h>

#include <cstring>

extern "C" int PMPI_Get_library_version(char* version, int* bytes) {
  constexpr char kClaimed[] = "Open MPI v4.1.99, package: none";
  std::memcpy(version, kClaimed, sizeof kClaimed);
  *bytes = static_cast<int>(sizeof kClaimed - 1);
  return MPI_SUCCESS;
}
