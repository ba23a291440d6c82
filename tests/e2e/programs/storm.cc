// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/storm.cc -- point-to-point storm: every way to send and match a message, again
// and again.
//
// --bytes is the largest message (0 B .. 1 GiB); it is sent in the first round and then in every
// 50th. A job of size 1 needs the runtime's loopback, and is allowed.
#include "storm_parts.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    e2e::Proof proof(argc, argv, "storm");
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    e2e::Ledger ledger(proof, comm);
    e2e::Chance chance(proof.options().seed);
    e2e::Storm storm{proof, ledger, chance, proof.rank(), proof.size()};
    while (proof.next_round()) {
      e2e::any_source_any_tag(storm);
      e2e::unexpected_messages(storm);
      e2e::probes(storm);
      e2e::cancelled_receives(storm);
      e2e::synchronous_sends(storm);
      e2e::truncated_receives(storm);
      e2e::all_sizes(storm);
      if (storm.size > 1) e2e::flood(storm);
      e2e::derived_types(storm);
      e2e::sendrecv_and_persistent(storm);
      if (proof.round() % 50 == 1) e2e::largest_message(storm);
    }
    ledger.settle();
    code = proof.finish();
    MPI_Comm_free(&comm);
  }
  MPI_Finalize();
  return code;
}
