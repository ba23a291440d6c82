// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/rendezvous.cc -- one message of --bytes from each rank to its right neighbour
// stays unmatched while the neighbours exchange small ones; it is received only once the stop file
// exists.
//
// The ready file is made when the large sends are outstanding and the small messages flow.
#include "proof.h"

namespace {

constexpr int kTagLarge = 1;
constexpr int kTagSmall = 2;
using Buffer = std::vector<std::byte>;

void small_shift(e2e::Proof& proof, e2e::Ledger& ledger, int left, int right) {
  Buffer mine(500 + proof.round() % 3000), theirs(mine.size());
  ledger.write(mine.data(), mine.size(), right, kTagSmall);
  MPI_Sendrecv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, right, kTagSmall,
               theirs.data(), static_cast<int>(theirs.size()), MPI_BYTE, left, kTagSmall,
               ledger.comm(), MPI_STATUS_IGNORE);
  ledger.read(theirs.data(), theirs.size(), left, kTagSmall);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    e2e::Proof proof(argc, argv, "rendezvous");
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    e2e::Ledger ledger(proof, comm);
    const int right = (proof.rank() + 1) % proof.size();
    const int left = (proof.rank() + proof.size() - 1) % proof.size();
    const std::size_t bytes = proof.options().bytes_max;
    Buffer mine(bytes);
    ledger.write(mine.data(), bytes, right, kTagLarge);
    MPI_Request sending;
    MPI_Isend(mine.data(), static_cast<int>(bytes), MPI_BYTE, right, kTagLarge, comm, &sending);
    while (proof.next_round()) small_shift(proof, ledger, left, right);
    int done = 0;
    MPI_Test(&sending, &done, MPI_STATUS_IGNORE);
    proof.expect(done == 0 || bytes < (1U << 20),
                 "a large send was complete although nobody had posted a receive");
    Buffer theirs(bytes);
    MPI_Recv(theirs.data(), static_cast<int>(bytes), MPI_BYTE, left, kTagLarge, comm,
             MPI_STATUS_IGNORE);
    ledger.read(theirs.data(), bytes, left, kTagLarge);
    if (done == 0) MPI_Wait(&sending, MPI_STATUS_IGNORE);
    ledger.settle();
    MPI_Comm_free(&comm);
    code = proof.finish();
  }
  MPI_Finalize();
  return code;
}
