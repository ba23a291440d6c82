// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/quiet.cc -- all ranks talk to each other, and then nothing is sent: every
// third is away from MPI, every third is blocked in it, and every third looks in now and then. How
// often their agents wake meanwhile is seen from outside.
#include <chrono>
#include <thread>

#include "proof.h"

namespace {

constexpr int kTag = 7;
constexpr auto kAway = std::chrono::milliseconds(5);  // of a rank that looks in

void all_pairs(const e2e::Proof& proof, e2e::Ledger& ledger) {
  for (int distance = 1; distance < proof.size(); ++distance) {
    const int to = (proof.rank() + distance) % proof.size();
    const int from = (proof.rank() + proof.size() - distance) % proof.size();
    std::vector<std::byte> out(5000), in(5000);
    ledger.write(out.data(), out.size(), to, kTag);
    MPI_Sendrecv(out.data(), static_cast<int>(out.size()), MPI_BYTE, to, kTag, in.data(),
                 static_cast<int>(in.size()), MPI_BYTE, from, kTag, ledger.comm(),
                 MPI_STATUS_IGNORE);
    ledger.read(in.data(), in.size(), from, kTag);
  }
}

void look_in() {
  for (int i = 0; i < 200; ++i) {
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, kTag + 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  }
}

/// A rank that is blocked in MPI learns of the end from the rank before it.
void rest_until_stop(const e2e::Proof& proof) {
  const int state = proof.rank() % 3;
  const bool heard_by_next = state == 0 && proof.rank() + 1 < proof.size();
  int word = 0;
  if (state == 1) {
    MPI_Recv(&word, 1, MPI_INT, proof.rank() - 1, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  while (!proof.stopped()) {
    std::this_thread::sleep_for(kAway);
    if (state == 2) look_in();
  }
  if (heard_by_next) MPI_Send(&word, 1, MPI_INT, proof.rank() + 1, kTag, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    e2e::Proof proof(argc, argv, "quiet");
    e2e::Ledger ledger(proof, MPI_COMM_WORLD);
    all_pairs(proof, ledger);
    MPI_Barrier(MPI_COMM_WORLD);
    proof.ready();
    rest_until_stop(proof);
    all_pairs(proof, ledger);
    ledger.settle();
    code = proof.finish();
  }
  MPI_Finalize();
  return code;
}
