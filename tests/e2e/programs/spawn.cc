// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/spawn.cc -- MPI_Comm_spawn again and again: two children a round, which
// exchange checked messages with all parents over the merged communicator and then leave.
//
// Parents and children name their messages by their ranks in the merged communicator.
#include "proof.h"

namespace {

constexpr int kChildren = 2;
constexpr int kTag = 9;
constexpr int kMessages = 30;
constexpr int kExchanges = 20;  // so that more is sent than started
using Buffer = std::vector<std::byte>;

/// Everyone sends kMessages to everyone, from number `first` on; sizes grow.
void exchange(e2e::Proof& proof, MPI_Comm merged, std::uint64_t first) {
  int rank = 0, size = 1;
  MPI_Comm_rank(merged, &rank);
  MPI_Comm_size(merged, &size);
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    const std::uint64_t seq = first + i;
    const std::size_t bytes = 1 + i * i * 50;
    const auto peers = static_cast<std::size_t>(size - 1);
    std::vector<Buffer> in(peers, Buffer(bytes)), out(peers, Buffer(bytes));
    std::vector<MPI_Request> requests(2 * peers);
    for (std::size_t p = 0; p < peers; ++p) {
      const int peer = (rank + 1 + static_cast<int>(p)) % size;
      MPI_Irecv(in[p].data(), static_cast<int>(bytes), MPI_BYTE, peer, kTag, merged, &requests[p]);
      e2e::fill(out[p].data(), bytes,
                {static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(peer), kTag, 0, seq});
      MPI_Isend(out[p].data(), static_cast<int>(bytes), MPI_BYTE, peer, kTag, merged,
                &requests[peers + p]);
      proof.note_sent(bytes);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t p = 0; p < peers; ++p) {
      const auto peer = static_cast<std::uint32_t>((rank + 1 + static_cast<int>(p)) % size);
      proof.note_received(bytes);
      if (!e2e::matches(in[p].data(), bytes,
                        {peer, static_cast<std::uint32_t>(rank), kTag, 0, seq})) {
        proof.error(e2e::Proof::Fault::kCorrupt, "message " + std::to_string(seq) + " from " +
                                                     std::to_string(peer) +
                                                     " of the merged communicator is wrong");
      }
    }
  }
}

void exchange_often(e2e::Proof& proof, MPI_Comm merged) {
  for (std::uint64_t i = 0; i < kExchanges; ++i) exchange(proof, merged, i * kMessages);
}

int be_child(e2e::Proof& proof, MPI_Comm parents) {
  MPI_Comm merged;
  MPI_Intercomm_merge(parents, 1, &merged);
  exchange_often(proof, merged);
  int code = proof.print_proof();
  MPI_Gather(&code, 1, MPI_INT, nullptr, 0, MPI_INT, 0, parents);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&parents);
  return code;
}

void spawn_once(e2e::Proof& proof, char* self) {
  MPI_Comm children, merged;
  MPI_Comm_spawn(self, MPI_ARGV_NULL, kChildren, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                 MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(children, 0, &merged);
  exchange_often(proof, merged);
  int codes[kChildren] = {};
  MPI_Gather(nullptr, 0, MPI_INT, codes, 1, MPI_INT, proof.rank() == 0 ? MPI_ROOT : MPI_PROC_NULL,
             children);
  for (const int code : codes) proof.expect(code == 0, "a spawned process found an error");
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&children);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parents;
  MPI_Comm_get_parent(&parents);
  int code = 0;
  {
    e2e::Proof proof(argc, argv, parents == MPI_COMM_NULL ? "spawn" : "spawned");
    if (parents != MPI_COMM_NULL) {
      code = be_child(proof, parents);
    } else {
      while (proof.next_round()) spawn_once(proof, argv[0]);
      code = proof.finish();
    }
  }
  MPI_Finalize();
  return code;
}
