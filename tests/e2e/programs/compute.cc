// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/compute.cc -- all ranks talk to each other, compute without an MPI call until
// the stop file exists, and talk again. A switch that waited for the application would wait for
// ever.
#include "proof.h"

namespace {

constexpr int kTag = 3;
using Buffer = std::vector<std::byte>;

void all_pairs(e2e::Proof& proof, e2e::Ledger& ledger) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{5000}, std::size_t{300000}}) {
    const auto peers = static_cast<std::size_t>(proof.size() - 1);
    std::vector<Buffer> in(peers, Buffer(bytes)), out(peers, Buffer(bytes));
    std::vector<MPI_Request> requests(2 * peers);
    for (std::size_t i = 0; i < peers; ++i) {
      const int peer = (proof.rank() + 1 + static_cast<int>(i)) % proof.size();
      MPI_Irecv(in[i].data(), static_cast<int>(bytes), MPI_BYTE, peer, kTag, ledger.comm(),
                &requests[i]);
      ledger.write(out[i].data(), bytes, peer, kTag);
      MPI_Isend(out[i].data(), static_cast<int>(bytes), MPI_BYTE, peer, kTag, ledger.comm(),
                &requests[peers + i]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < peers; ++i) {
      ledger.read(in[i].data(), bytes, (proof.rank() + 1 + static_cast<int>(i)) % proof.size(),
                  kTag);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    e2e::Proof proof(argc, argv, "compute");
    e2e::Ledger ledger(proof, MPI_COMM_WORLD);
    all_pairs(proof, ledger);
    proof.ready();
    proof.compute_until_stop();
    all_pairs(proof, ledger);
    ledger.settle();
    code = proof.finish();
  }
  MPI_Finalize();
  return code;
}
