// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/survivor.cc -- rank 1 dies; what rank 0 has open with it, and what it then
// asks of it, must end with an error and not wait for ever. For mpirun --enable-recovery. Rank 0
// prints a line of JSON for each call. `listens`: rank 0 never names rank 1, and only hears from
// it; `elsewhere`: it has named it on a communicator other than the one on which it waits.
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

constexpr int kLargeBytes = 4 << 20;

/// Prints a line for a call that has ended.
void tell(const char* call, int error) {
  int found = MPI_SUCCESS;
  MPI_Error_class(error, &found);
  const char* name = found == MPI_ERR_OTHER ? "other" : found == MPI_SUCCESS ? "none" : "wrong";
  std::printf("{\"survivor\": \"%s\", \"error\": \"%s\"}\n", call, name);
  std::fflush(stdout);
}

/// Rank 1 is alive when these begin, since it is told to die later, and dead before they can end.
struct BegunBefore {
  std::vector<char> large = std::vector<char>(kLargeBytes);
  int x = 0;
  MPI_Request receive, any, send;

  BegunBefore() {
    MPI_Irecv(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &receive);
    MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &any);
    MPI_Isend(large.data(), kLargeBytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &send);
  }
};

/// Does a communicator without a dead member still work?
bool alone_goes_on() {
  int in = 0;
  const int out = 42;
  MPI_Request receive;
  MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_SELF, &receive);
  MPI_Send(&out, 1, MPI_INT, 0, 8, MPI_COMM_SELF);
  return MPI_Wait(&receive, MPI_STATUS_IGNORE) == MPI_SUCCESS && in == out;
}

int tell_done() {
  std::printf("{\"survivor\": \"done\", \"alone\": %s}\n", alone_goes_on() ? "true" : "false");
  std::fflush(stdout);
  return 0;
}

int survive() {
  int x = 0;
  BegunBefore begun;
  MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  MPI_Status status;
  const MPI_Comm world = MPI_COMM_WORLD;
  tell("recv", MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 3, world, MPI_STATUS_IGNORE));
  tell("irecv", MPI_Wait(&begun.receive, MPI_STATUS_IGNORE));
  tell("irecv from any", MPI_Wait(&begun.any, MPI_STATUS_IGNORE));
  tell("isend", MPI_Wait(&begun.send, MPI_STATUS_IGNORE));
  tell("send", MPI_Send(&x, 1, MPI_INT, 1, 4, world));
  tell("ssend", MPI_Ssend(&x, 1, MPI_INT, 1, 4, world));
  tell("late recv", MPI_Recv(&x, 1, MPI_INT, 1, 5, world, MPI_STATUS_IGNORE));
  tell("late recv from any", MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 5, world, &status));
  tell("probe", MPI_Probe(1, 6, world, &status));
  int there = 0;
  tell("iprobe", MPI_Iprobe(1, 6, world, &there, &status));
  tell("probe from any", MPI_Probe(MPI_ANY_SOURCE, 6, world, &status));
  MPI_Request late;
  MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 9, world, &late);
  tell("late irecv from any", MPI_Wait(&late, MPI_STATUS_IGNORE));
  return tell_done();
}

/// Rank 0 only receives from any source, and rank 1 dies once it has sent.
int listen(MPI_Comm comm) {
  int x = 0;
  MPI_Request begun;
  MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm, &begun);
  MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE);
  tell("irecv from any", MPI_Wait(&begun, MPI_STATUS_IGNORE));
  tell("late recv from any", MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, MPI_STATUS_IGNORE));
  MPI_Status status;
  tell("probe from any", MPI_Probe(MPI_ANY_SOURCE, 6, comm, &status));
  return tell_done();
}

void send_and_die(MPI_Comm comm) {
  const int x = 1;
  MPI_Ssend(&x, 1, MPI_INT, 0, 0, comm);
  std::raise(SIGKILL);
}

/// Rank 1 was named where the copy was made, but not on the copy.
int wait_elsewhere(int rank) {
  MPI_Comm copy, other;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) std::raise(SIGKILL);
  int x = 0;
  tell("recv from any", MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 5, copy, MPI_STATUS_IGNORE));
  // It ends at once, and is checked again when rank 1 is named on another communicator.
  MPI_Request begun;
  MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &begun);
  tell("send elsewhere", MPI_Send(&x, 1, MPI_INT, 1, 6, other));
  tell("irecv from any", MPI_Wait(&begun, MPI_STATUS_IGNORE));
  return tell_done();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "elsewhere") ::_exit(wait_elsewhere(rank));
  if (mode == "listens") {
    if (rank == 1) send_and_die(MPI_COMM_WORLD);
    ::_exit(listen(MPI_COMM_WORLD));
  }
  int x = rank;
  if (rank == 1) {
    MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::raise(SIGKILL);
  }
  ::_exit(survive());  // MPI_Finalize would wait for rank 1
}
