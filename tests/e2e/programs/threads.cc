// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/threads.cc -- MPI_THREAD_MULTIPLE: four threads per rank, each with its own
// communicator and ledger, send to all ranks at once; two of them share a communicator and are kept
// apart by tag.
#include <array>
#include <thread>

#include "proof.h"

namespace {

constexpr int kThreads = 4;
constexpr int kTag = 50;
using Buffer = std::vector<std::byte>;

struct Worker {
  e2e::Proof& proof;
  e2e::Ledger ledger;
  int tag;
};

/// One message with each peer both ways, non-blocking, then one to the right, found by probe.
void exchange(Worker& worker, std::size_t bytes) {
  const int rank = worker.proof.rank(), size = worker.proof.size();
  const auto peers = static_cast<std::size_t>(size - 1);
  std::vector<Buffer> in(peers, Buffer(bytes)), out(peers, Buffer(bytes));
  std::vector<MPI_Request> requests(2 * peers);
  for (std::size_t i = 0; i < peers; ++i) {
    const int peer = (rank + 1 + static_cast<int>(i)) % size;
    MPI_Irecv(in[i].data(), static_cast<int>(bytes), MPI_BYTE, peer, worker.tag,
              worker.ledger.comm(), &requests[i]);
    worker.ledger.write(out[i].data(), bytes, peer, worker.tag);
    MPI_Isend(out[i].data(), static_cast<int>(bytes), MPI_BYTE, peer, worker.tag,
              worker.ledger.comm(), &requests[peers + i]);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (std::size_t i = 0; i < peers; ++i) {
    worker.ledger.read(in[i].data(), bytes, (rank + 1 + static_cast<int>(i)) % size, worker.tag);
  }
}

void probed_shift(Worker& worker, std::size_t bytes) {
  const int rank = worker.proof.rank(), size = worker.proof.size();
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  Buffer mine(bytes), theirs(bytes);
  worker.ledger.write(mine.data(), bytes, right, worker.tag);
  MPI_Request sending;
  MPI_Isend(mine.data(), static_cast<int>(bytes), MPI_BYTE, right, worker.tag, worker.ledger.comm(),
            &sending);
  MPI_Message message;
  MPI_Status status;
  MPI_Mprobe(left, worker.tag, worker.ledger.comm(), &message, &status);
  MPI_Mrecv(theirs.data(), static_cast<int>(bytes), MPI_BYTE, &message, &status);
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  worker.ledger.read(theirs.data(), static_cast<std::size_t>(count), left, worker.tag);
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
}

/// One thread's round; sizes are the same on all ranks.
void round(Worker& worker) {
  e2e::Chance chance(worker.proof.round() * 16 + static_cast<std::uint64_t>(worker.tag));
  for (int i = 0; i < 10; ++i) {
    const std::size_t bytes =
        chance.below(i % 5 == 0 ? worker.proof.options().bytes_max / 4 + 1 : 4000);
    exchange(worker, bytes);
    probed_shift(worker, bytes % 50000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int code = 0;
  {
    e2e::Proof proof(argc, argv, "threads");
    proof.expect(provided == MPI_THREAD_MULTIPLE, "MPI does not offer MPI_THREAD_MULTIPLE");
    std::array<MPI_Comm, kThreads> comms;
    for (int i = 0; i + 1 < kThreads; ++i)
      MPI_Comm_dup(MPI_COMM_WORLD, &comms[static_cast<std::size_t>(i)]);
    comms[kThreads - 1] = comms[0];
    std::vector<Worker> workers;
    for (int i = 0; i < kThreads; ++i) {
      workers.push_back({proof, e2e::Ledger(proof, comms[static_cast<std::size_t>(i)]), kTag + i});
    }
    while (proof.next_round()) {
      std::vector<std::thread> threads;
      for (Worker& worker : workers) threads.emplace_back([&worker] { round(worker); });
      for (std::thread& thread : threads) thread.join();
    }
    for (Worker& worker : workers) worker.ledger.settle();
    for (int i = 0; i + 1 < kThreads; ++i) MPI_Comm_free(&comms[static_cast<std::size_t>(i)]);
    code = proof.finish();
  }
  MPI_Finalize();
  return code;
}
