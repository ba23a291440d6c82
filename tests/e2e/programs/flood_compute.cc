// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/flood_compute.cc -- neighbours flood each other with --messages messages that
// nobody receives, then compute without an MPI call until the stop file exists, and only then
// receive. Memory must stay bounded.
//
// The bound (--growth) applies to the process's growth, read from /proc/self/status, since its own
// buffers were allocated and touched. The ready file is made before the computing begins.
#include <cstdio>
#include <fstream>

#include "proof.h"

namespace {

constexpr int kTag = 5;
using Buffer = std::vector<std::byte>;

/// The most memory this process ever had resident, in bytes.
std::size_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    std::size_t kibibytes = 0;
    status >> kibibytes;
    return kibibytes * 1024;
  }
  return 0;
}

/// One message each way, so that the neighbours are connected before the baseline is taken.
void connect(e2e::Ledger& ledger, int left, int right) {
  Buffer mine(100000), theirs(100000);
  ledger.write(mine.data(), mine.size(), right, kTag);
  MPI_Sendrecv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, right, kTag, theirs.data(),
               static_cast<int>(theirs.size()), MPI_BYTE, left, kTag, ledger.comm(),
               MPI_STATUS_IGNORE);
  ledger.read(theirs.data(), theirs.size(), left, kTag);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    e2e::Proof proof(argc, argv, "flood_compute");
    e2e::Ledger ledger(proof, MPI_COMM_WORLD);
    const int right = (proof.rank() + 1) % proof.size();
    const int left = (proof.rank() + proof.size() - 1) % proof.size();
    const std::size_t messages = proof.options().messages > 0 ? proof.options().messages : 1000;
    const std::size_t bytes = proof.options().bytes_max;
    connect(ledger, left, right);
    std::vector<Buffer> out(messages, Buffer(bytes));
    for (Buffer& buffer : out) ledger.write(buffer.data(), bytes, right, kTag);
    Buffer theirs(bytes);
    std::vector<MPI_Request> requests(messages);
    MPI_Barrier(MPI_COMM_WORLD);
    const std::size_t before = peak_resident_bytes();
    for (std::size_t i = 0; i < messages; ++i) {
      MPI_Isend(out[i].data(), static_cast<int>(bytes), MPI_BYTE, right, kTag, MPI_COMM_WORLD,
                &requests[i]);
    }
    proof.ready();
    proof.compute_until_stop();
    for (std::size_t i = 0; i < messages; ++i) {
      MPI_Recv(theirs.data(), static_cast<int>(bytes), MPI_BYTE, left, kTag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      ledger.read(theirs.data(), bytes, left, kTag);
    }
    MPI_Waitall(static_cast<int>(messages), requests.data(), MPI_STATUSES_IGNORE);
    const std::size_t grown = peak_resident_bytes() - before;
    std::printf("{\"grown\": %zu}\n", grown);
    std::fflush(stdout);
    proof.expect(before > 0 && grown <= proof.options().growth_bytes,
                 ("memory grew by " + std::to_string(grown) + " bytes").c_str());
    ledger.settle();
    code = proof.finish();
  }
  MPI_Finalize();
  return code;
}
