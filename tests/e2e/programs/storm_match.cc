// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/storm_match.cc -- the parts of the storm that test matching: wildcards,
// unexpected messages, probes, cancel, synchronous mode, truncation.
#include <algorithm>
#include <cstddef>

#include "storm_parts.h"

namespace e2e {
namespace {

constexpr int kTagWild = 100;   // 100..103
constexpr int kTagProbe = 200;  // 200..203
constexpr int kTagNever = 300;
constexpr int kTagCancelled = 301;
constexpr int kTagSynchronous = 310;
constexpr int kTagTruncated = 320;

/// Every rank sends `count` messages to every other; sizes differ. Returns the open requests.
struct Outgoing {
  std::vector<Buffer> buffers;
  std::vector<MPI_Request> requests;
};

void send_to_all(Storm& storm, int first_tag, int count, std::size_t bytes_max, Outgoing& out) {
  Chance sizes(storm.proof.round() * 1000 + static_cast<std::uint64_t>(storm.rank));
  for (int i = 0; i < count; ++i) {
    for (int step = 1; step < storm.size; ++step) {
      const int target = (storm.rank + step) % storm.size;
      const int tag = first_tag + i % 4;
      Buffer& buffer = out.buffers.emplace_back(sizes.below(bytes_max + 1));
      storm.ledger.write(buffer.data(), buffer.size(), target, tag);
      MPI_Isend(buffer.data(), to_count(buffer.size()), MPI_BYTE, target, tag, storm.ledger.comm(),
                &out.requests.emplace_back());
    }
  }
}

void wait_all(Outgoing& out) {
  MPI_Waitall(to_count(out.requests.size()), out.requests.data(), MPI_STATUSES_IGNORE);
  out.requests.clear();
  out.buffers.clear();
}

void judge(Storm& storm, const Buffer& buffer, const MPI_Status& status) {
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  storm.ledger.read(buffer.data(), static_cast<std::size_t>(count), status.MPI_SOURCE,
                    status.MPI_TAG);
}

void receive_wild(Storm& storm, int messages, std::size_t bytes_max) {
  Buffer buffer(bytes_max);
  for (int i = 0; i < messages; ++i) {
    MPI_Status status;
    MPI_Recv(buffer.data(), to_count(bytes_max), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
             storm.ledger.comm(), &status);
    judge(storm, buffer, status);
  }
}

/// Takes one message that a probe of the given kind announced.
void take_probed(Storm& storm, int kind, Buffer& buffer) {
  const MPI_Comm comm = storm.ledger.comm();
  MPI_Status status;
  MPI_Message message = MPI_MESSAGE_NULL;
  int flag = 0;
  switch (kind) {
    case 0:
      MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
      break;
    case 1:
      while (flag == 0) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
      break;
    case 2:
      MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status);
      break;
    default:
      while (flag == 0) MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, &status);
      break;
  }
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  buffer.resize(static_cast<std::size_t>(count));
  const MPI_Status announced = status;
  if (kind <= 1) {
    MPI_Recv(buffer.data(), count, MPI_BYTE, announced.MPI_SOURCE, announced.MPI_TAG, comm,
             &status);
  } else if (kind == 2) {
    MPI_Mrecv(buffer.data(), count, MPI_BYTE, &message, &status);
  } else {
    MPI_Request request;
    MPI_Imrecv(buffer.data(), count, MPI_BYTE, &message, &request);
    MPI_Wait(&request, &status);
  }
  storm.proof.expect(
      status.MPI_SOURCE == announced.MPI_SOURCE && status.MPI_TAG == announced.MPI_TAG,
      "a probed message was received with another source or tag");
  judge(storm, buffer, status);
}

}  // namespace

void any_source_any_tag(Storm& storm) {
  constexpr int kCount = 12;
  constexpr std::size_t kBytes = 20000;
  const int messages = kCount * (storm.size - 1);
  std::vector<Buffer> early(static_cast<std::size_t>(messages / 2), Buffer(kBytes));
  std::vector<MPI_Request> posted(early.size());
  for (std::size_t i = 0; i < early.size(); ++i) {
    MPI_Irecv(early[i].data(), to_count(kBytes), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
              storm.ledger.comm(), &posted[i]);
  }
  Outgoing out;
  send_to_all(storm, kTagWild, kCount, kBytes, out);
  for (std::size_t i = 0; i < posted.size(); ++i) {
    MPI_Status status;  // in the order posted, which is the order matched
    MPI_Wait(&posted[i], &status);
    judge(storm, early[i], status);
  }
  receive_wild(storm, messages - messages / 2, kBytes);
  wait_all(out);
  MPI_Barrier(storm.ledger.comm());
}

void unexpected_messages(Storm& storm) {
  constexpr int kCount = 8;
  constexpr std::size_t kBytes = 3000;
  Outgoing out;
  send_to_all(storm, kTagWild, kCount, kBytes, out);
  MPI_Barrier(storm.ledger.comm());
  Buffer buffer(kBytes);
  for (int tag = kTagWild + 3; tag >= kTagWild; --tag) {  // in reverse order of sending
    for (int i = 0; i < kCount / 4; ++i) {
      for (int step = 1; step < storm.size; ++step) {
        MPI_Status status;
        MPI_Recv(buffer.data(), to_count(kBytes), MPI_BYTE, (storm.rank + step) % storm.size, tag,
                 storm.ledger.comm(), &status);
        judge(storm, buffer, status);
      }
    }
  }
  wait_all(out);
  MPI_Barrier(storm.ledger.comm());
}

void probes(Storm& storm) {
  constexpr int kCount = 8;
  Outgoing out;
  send_to_all(storm, kTagProbe, kCount, 30000, out);
  Buffer buffer;
  for (int i = 0; i < kCount * (storm.size - 1); ++i) take_probed(storm, i % 4, buffer);
  wait_all(out);
  MPI_Barrier(storm.ledger.comm());
}

void cancelled_receives(Storm& storm) {
  const int right = (storm.rank + 1) % storm.size;
  const int left = (storm.rank + storm.size - 1) % storm.size;
  const MPI_Comm comm = storm.ledger.comm();
  Buffer never(512), mine(512);
  MPI_Request requests[2];
  MPI_Irecv(never.data(), 512, MPI_BYTE, left, kTagNever, comm, &requests[0]);
  MPI_Irecv(never.data(), 512, MPI_BYTE, left, kTagCancelled, comm, &requests[1]);
  for (MPI_Request& request : requests) {
    MPI_Cancel(&request);
    MPI_Status status;
    MPI_Wait(&request, &status);
    int cancelled = 0;
    MPI_Test_cancelled(&status, &cancelled);
    storm.proof.expect(cancelled != 0, "a receive that nothing can match was not cancelled");
  }
  MPI_Barrier(comm);  // only now is the message sent: the cancelled receive must not take it
  MPI_Request sending;
  storm.ledger.write(mine.data(), mine.size(), right, kTagCancelled);
  MPI_Isend(mine.data(), 512, MPI_BYTE, right, kTagCancelled, comm, &sending);
  Buffer buffer(512);
  MPI_Status status;
  MPI_Recv(buffer.data(), 512, MPI_BYTE, left, kTagCancelled, comm, &status);
  judge(storm, buffer, status);
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
}

void synchronous_sends(Storm& storm) {
  const int right = (storm.rank + 1) % storm.size;
  const int left = (storm.rank + storm.size - 1) % storm.size;
  const MPI_Comm comm = storm.ledger.comm();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{64}, std::size_t{100000}}) {
    Buffer mine(bytes), theirs(bytes);
    MPI_Request sending;
    storm.ledger.write(mine.data(), bytes, right, kTagSynchronous);
    MPI_Issend(mine.data(), to_count(bytes), MPI_BYTE, right, kTagSynchronous, comm, &sending);
    MPI_Barrier(comm);
    int done = 0;
    for (int i = 0; i < 20 && done == 0; ++i) MPI_Test(&sending, &done, MPI_STATUS_IGNORE);
    storm.proof.expect(done == 0, "a synchronous send was complete before its receive was posted");
    MPI_Barrier(comm);
    MPI_Status status;
    MPI_Recv(theirs.data(), to_count(bytes), MPI_BYTE, left, kTagSynchronous, comm, &status);
    judge(storm, theirs, status);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
  }
}

// Open MPI 4.1.4's own pml ob1 writes past the buffer of a large truncated receive when its BTL has
// put or get; a comparison run over it passes with --mca btl_vader_single_copy_mechanism none and 2
// ranks or more.
void truncated_receives(Storm& storm) {
  const int right = (storm.rank + 1) % storm.size;
  const int left = (storm.rank + storm.size - 1) % storm.size;
  const MPI_Comm comm = storm.ledger.comm();
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (const std::size_t bytes : {std::size_t{1000}, std::size_t{200000}}) {
    Buffer mine(bytes), short_one(bytes, std::byte{0x5a}), whole(bytes);
    for (const bool truncate : {true, false}) {
      MPI_Request sending;
      storm.ledger.write(mine.data(), bytes, right, kTagTruncated);
      MPI_Isend(mine.data(), to_count(bytes), MPI_BYTE, right, kTagTruncated, comm, &sending);
      Buffer& into = truncate ? short_one : whole;
      const std::size_t room = truncate ? bytes / 2 : bytes;
      MPI_Status status;
      const int code =
          MPI_Recv(into.data(), to_count(room), MPI_BYTE, left, kTagTruncated, comm, &status);
      int error_class = MPI_SUCCESS;
      MPI_Error_class(code, &error_class);
      storm.proof.expect(error_class == (truncate ? MPI_ERR_TRUNCATE : MPI_SUCCESS),
                         "a truncated receive did not say MPI_ERR_TRUNCATE, or a whole one failed");
      if (truncate)
        storm.ledger.skip(left, kTagTruncated);
      else
        judge(storm, whole, status);
      MPI_Wait(&sending, MPI_STATUS_IGNORE);
    }
    const auto behind = short_one.begin() + static_cast<std::ptrdiff_t>(bytes / 2);
    const bool untouched =
        std::all_of(behind, short_one.end(), [](std::byte b) { return b == std::byte{0x5a}; });
    storm.proof.expect(untouched, "a truncated receive wrote behind its buffer");
  }
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

}  // namespace e2e
