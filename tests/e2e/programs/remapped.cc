// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/remapped.cc -- each rank sends to its neighbours from memory that is
// unmapped after each message and mapped anew at the same address, and receives into such memory.
//
// Code that remembers an address beyond one message (above all, a registration of it) would send or
// overwrite pages that no longer exist.
#include <sys/mman.h>

#include <array>
#include <cstdlib>

#include "proof.h"

namespace {

constexpr std::size_t kBytesMax = 3u << 20;
constexpr std::array<std::size_t, 6> kSizes{100, 9'000, 70'000, 200'000, 600'000, kBytesMax};

/// Memory that returns at the same place with nothing of its former content.
class Mapping {
 public:
  Mapping() : bytes_(map(nullptr)) {}
  ~Mapping() { ::munmap(bytes_, kBytesMax); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::byte* data() const { return bytes_; }
  /// It moves only if another thread takes the place at that moment.
  void anew() {
    std::byte* const before = bytes_;
    ::munmap(before, kBytesMax);
    bytes_ = map(before);
    if (bytes_ == before) ++same_;
  }
  std::uint64_t same() const { return same_; }

 private:
  static std::byte* map(std::byte* wanted) {
    void* const got =
        ::mmap(wanted, kBytesMax, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) std::abort();
    return static_cast<std::byte*>(got);
  }

  std::byte* bytes_;
  std::uint64_t same_ = 0;
};

/// Sends a message to one neighbour and receives one from the other.
void shift(e2e::Ledger& ledger, Mapping& mine, Mapping& theirs, std::size_t bytes, int to,
           int from) {
  ledger.write(mine.data(), bytes, to, 1);
  MPI_Sendrecv(mine.data(), static_cast<int>(bytes), MPI_BYTE, to, 1, theirs.data(),
               static_cast<int>(bytes), MPI_BYTE, from, 1, ledger.comm(), MPI_STATUS_IGNORE);
  ledger.read(theirs.data(), bytes, from, 1);
  mine.anew();
  theirs.anew();
}

void round(e2e::Proof& proof, e2e::Ledger& ledger, Mapping& mine, Mapping& theirs) {
  const int right = (proof.rank() + 1) % proof.size();
  const int left = (proof.rank() + proof.size() - 1) % proof.size();
  for (const std::size_t bytes : kSizes) {
    shift(ledger, mine, theirs, bytes, right, left);
    shift(ledger, mine, theirs, bytes, left, right);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    e2e::Proof proof(argc, argv, "remapped");
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    e2e::Ledger ledger(proof, comm);
    Mapping mine, theirs;
    while (proof.next_round()) round(proof, ledger, mine, theirs);
    proof.expect(proof.round() == 0 || (mine.same() > 0 && theirs.same() > 0),
                 "no memory came back at its old address");
    ledger.settle();
    MPI_Comm_free(&comm);
    code = proof.finish();
  }
  MPI_Finalize();
  return code;
}
