// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/survivor.cc -- rank 1 dies; what rank 0 has open with it, and what it asks of
// it after, must end with an error and not wait for ever. For mpirun --enable-recovery. Rank 0
// prints a line of JSON: the error class of each call.
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <vector>

namespace {

constexpr int kLargeBytes = 4 << 20;

int class_of(int error) {
  int found = MPI_SUCCESS;
  MPI_Error_class(error, &found);
  return found;
}

/// Rank 1 is alive when they begin, and dead before they can end.
void calls_begun_before(int* x, std::vector<char>& large, MPI_Request* receive, MPI_Request* send) {
  MPI_Irecv(x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, receive);
  MPI_Isend(large.data(), kLargeBytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, send);
}

int survive() {
  int x = 0;
  std::vector<char> large(kLargeBytes);
  MPI_Request receive, send;
  MPI_Status status;
  calls_begun_before(&x, large, &receive, &send);
  const int recv = MPI_Recv(&x, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int irecv = MPI_Wait(&receive, MPI_STATUS_IGNORE);
  const int isend = MPI_Wait(&send, MPI_STATUS_IGNORE);
  const int small = MPI_Send(&x, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
  const int synchronous = MPI_Ssend(&x, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
  const int late = MPI_Recv(&x, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int probe = MPI_Probe(1, 6, MPI_COMM_WORLD, &status);
  std::printf(
      "{\"survivor\": {\"recv\": %d, \"irecv\": %d, \"isend\": %d, \"send\": %d, \"ssend\": %d,"
      " \"late\": %d, \"probe\": %d}, \"other\": %d}\n",
      class_of(recv), class_of(irecv), class_of(isend), class_of(small), class_of(synchronous),
      class_of(late), class_of(probe), MPI_ERR_OTHER);
  std::fflush(stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int x = rank;
  if (rank == 1) {
    MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::raise(SIGKILL);
  }
  MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  ::_exit(survive());  // MPI_Finalize would wait for rank 1
}
