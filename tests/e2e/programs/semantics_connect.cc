// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/semantics_connect.cc -- see semantics.h.
#include "semantics.h"

namespace e2e {

/// Even and odd ranks meet as strangers: by MPI_Comm_accept and MPI_Comm_connect.
void connected(Semantics& s) {
  if (s.size < 2) return;
  const int side = s.rank % 2;
  char port[MPI_MAX_PORT_NAME] = {};
  MPI_Comm half, inter;
  MPI_Comm_split(s.comm, side, s.rank, &half);
  if (s.rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, s.comm);
  if (side == 0) {
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
  } else {
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
  }
  int remote = 0, sum = 0;
  MPI_Comm_remote_size(inter, &remote);
  MPI_Allreduce(&s.rank, &sum, 1, MPI_INT, MPI_SUM, inter);
  int expected = 0;
  for (int rank = 1 - side; rank < s.size; rank += 2) expected += rank;
  s.proof.expect(sum == expected, "the sum over ranks that connected is wrong");
  MPI_Comm_disconnect(&inter);
  if (s.rank == 0) MPI_Close_port(port);
  MPI_Comm_free(&half);
}

}  // namespace e2e
