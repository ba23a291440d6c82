// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/storm_bulk.cc -- the parts of the storm that move much data: all sizes,
// floods, derived datatypes.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "storm_parts.h"

namespace e2e {
namespace {

constexpr int kTagSizes = 400;
constexpr int kTagFlood = 410;  // 410..412
constexpr int kTagType = 420;
constexpr int kTagPersistent = 430;
constexpr int kTagLargest = 440;

int right_of(const Storm& storm) { return (storm.rank + 1) % storm.size; }
int left_of(const Storm& storm) { return (storm.rank + storm.size - 1) % storm.size; }

/// One message to the right, one from the left, both non-blocking.
void shift(Storm& storm, std::size_t bytes, int tag, Buffer& mine, Buffer& theirs) {
  MPI_Request requests[2];
  MPI_Irecv(theirs.data(), to_count(bytes), MPI_BYTE, left_of(storm), tag, storm.ledger.comm(),
            &requests[0]);
  storm.ledger.write(mine.data(), bytes, right_of(storm), tag);
  MPI_Isend(mine.data(), to_count(bytes), MPI_BYTE, right_of(storm), tag, storm.ledger.comm(),
            &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  storm.ledger.read(theirs.data(), bytes, left_of(storm), tag);
}

MPI_Datatype vector_type() {
  MPI_Datatype type;
  MPI_Type_vector(64, 8, 24, MPI_BYTE, &type);
  return type;
}

MPI_Datatype indexed_type() {
  const int lengths[4] = {1, 127, 256, 128};
  const int places[4] = {3, 200, 700, 1400};
  MPI_Datatype type;
  MPI_Type_indexed(4, lengths, places, MPI_BYTE, &type);
  return type;
}

MPI_Datatype struct_type() {
  const int lengths[3] = {16, 32, 64};
  const MPI_Aint places[3] = {0, 256, 1024};
  const MPI_Datatype parts[3] = {MPI_UINT64_T, MPI_INT, MPI_DOUBLE};
  MPI_Datatype type;
  MPI_Type_create_struct(3, lengths, places, parts, &type);
  return type;
}

/// Sends `type` from a scattered buffer and receives it as bytes, and the other way round.
void exchange_type(Storm& storm, MPI_Datatype type) {
  MPI_Type_commit(&type);
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  const auto size = static_cast<std::size_t>(bytes);
  Buffer plain(size), scattered(4096), back(size);
  const MPI_Comm comm = storm.ledger.comm();
  for (const bool scatter_at_sender : {true, false}) {
    storm.ledger.write(plain.data(), size, right_of(storm), kTagType);
    std::fill(scattered.begin(), scattered.end(), std::byte{0});
    int position = 0;
    MPI_Request requests[2];
    if (scatter_at_sender) {
      MPI_Unpack(plain.data(), bytes, &position, scattered.data(), 1, type, comm);
      MPI_Irecv(back.data(), bytes, MPI_BYTE, left_of(storm), kTagType, comm, &requests[0]);
      MPI_Isend(scattered.data(), 1, type, right_of(storm), kTagType, comm, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
      MPI_Irecv(scattered.data(), 1, type, left_of(storm), kTagType, comm, &requests[0]);
      MPI_Isend(plain.data(), bytes, MPI_BYTE, right_of(storm), kTagType, comm, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      MPI_Pack(scattered.data(), 1, type, back.data(), bytes, &position, comm);
    }
    storm.ledger.read(back.data(), size, left_of(storm), kTagType);
  }
  MPI_Type_free(&type);
}

}  // namespace

void all_sizes(Storm& storm) {
  const std::size_t cap = std::min(storm.proof.options().bytes_max, std::size_t{4} << 20);
  Buffer mine(cap + 1), theirs(cap + 1);
  for (std::size_t bytes = 0; bytes <= std::min(cap, std::size_t{9}); ++bytes) {
    shift(storm, bytes, kTagSizes, mine, theirs);
  }
  for (std::size_t power = 16; power <= cap; power *= 2) {
    const std::size_t delta = storm.chance.below(3);  // one below, at or above the power
    shift(storm, std::min(power + delta - 1, cap), kTagSizes, mine, theirs);
  }
}

void flood(Storm& storm) {
  const std::size_t count =
      storm.proof.options().messages > 0 ? storm.proof.options().messages : 150;
  const std::size_t bytes = 1 + storm.chance.below(6000);
  const auto peers = static_cast<std::size_t>(storm.size - 1);
  std::vector<Buffer> in(count * peers, Buffer(bytes)), out(count * peers, Buffer(bytes));
  std::vector<MPI_Request> requests(2 * count * peers, MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < count * peers; ++i) {
    const int peer = (storm.rank + 1 + static_cast<int>(i % peers)) % storm.size;
    const int tag = kTagFlood + static_cast<int>(i / peers % 3);
    MPI_Irecv(in[i].data(), to_count(bytes), MPI_BYTE, peer, tag, storm.ledger.comm(),
              &requests[i]);
    storm.ledger.write(out[i].data(), bytes, peer, tag);
    MPI_Isend(out[i].data(), to_count(bytes), MPI_BYTE, peer, tag, storm.ledger.comm(),
              &requests[count * peers + i]);
  }
  MPI_Waitall(to_count(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (std::size_t i = 0; i < count * peers; ++i) {
    const int peer = (storm.rank + 1 + static_cast<int>(i % peers)) % storm.size;
    storm.ledger.read(in[i].data(), bytes, peer, kTagFlood + static_cast<int>(i / peers % 3));
  }
}

void derived_types(Storm& storm) {
  exchange_type(storm, vector_type());
  exchange_type(storm, indexed_type());
  exchange_type(storm, struct_type());
}

void sendrecv_and_persistent(Storm& storm) {
  constexpr int kBytes = 5000;
  Buffer mine(kBytes), theirs(kBytes);
  const MPI_Comm comm = storm.ledger.comm();
  storm.ledger.write(mine.data(), kBytes, right_of(storm), kTagPersistent);
  MPI_Sendrecv(mine.data(), kBytes, MPI_BYTE, right_of(storm), kTagPersistent, theirs.data(),
               kBytes, MPI_BYTE, left_of(storm), kTagPersistent, comm, MPI_STATUS_IGNORE);
  storm.ledger.read(theirs.data(), kBytes, left_of(storm), kTagPersistent);
  MPI_Request requests[2];
  MPI_Recv_init(theirs.data(), kBytes, MPI_BYTE, left_of(storm), kTagPersistent, comm,
                &requests[0]);
  MPI_Send_init(mine.data(), kBytes, MPI_BYTE, right_of(storm), kTagPersistent, comm, &requests[1]);
  for (int i = 0; i < 5; ++i) {
    storm.ledger.write(mine.data(), kBytes, right_of(storm), kTagPersistent);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    storm.ledger.read(theirs.data(), kBytes, left_of(storm), kTagPersistent);
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

void largest_message(Storm& storm) {
  const std::size_t bytes = storm.proof.options().bytes_max;
  Buffer mine(bytes), theirs(bytes);
  shift(storm, bytes, kTagLargest, mine, theirs);
}

}  // namespace e2e
