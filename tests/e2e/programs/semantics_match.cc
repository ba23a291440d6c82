// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/semantics_match.cc -- see semantics.h.
#include "semantics.h"

namespace e2e {
namespace {

constexpr int kMatchTag = 70;

int largest_tag() {
  void* value = nullptr;
  int there = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &there);
  return there != 0 ? *static_cast<int*>(value) : 32767;
}

void probed_with_claim(Semantics& s, std::size_t bytes, bool waits) {
  const Buffer out = s.message(s.rank, kMatchTag + 2, bytes);
  Buffer in(bytes);
  MPI_Request send;
  MPI_Isend(out.data(), static_cast<int>(bytes), MPI_BYTE, s.next(), kMatchTag + 2, s.comm, &send);
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status probed, status;
  int there = 0;
  if (waits) {
    MPI_Mprobe(MPI_ANY_SOURCE, kMatchTag + 2, s.comm, &message, &probed);
  } else {
    while (there == 0) MPI_Improbe(s.previous(), MPI_ANY_TAG, s.comm, &there, &message, &probed);
  }
  // It is set aside: nobody else can find it.
  MPI_Iprobe(MPI_ANY_SOURCE, kMatchTag + 2, s.comm, &there, MPI_STATUS_IGNORE);
  s.proof.expect(there == 0, "a message that was set aside was found again");
  if (waits) {
    MPI_Mrecv(in.data(), static_cast<int>(bytes), MPI_BYTE, &message, &status);
  } else {
    MPI_Request receive;
    MPI_Imrecv(in.data(), static_cast<int>(bytes), MPI_BYTE, &message, &receive);
    MPI_Wait(&receive, &status);
  }
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  s.judge(in, probed, kMatchTag + 2, "a message probed and set aside");
  s.judge(in, status, kMatchTag + 2, "a message that was set aside");
  s.proof.expect(message == MPI_MESSAGE_NULL, "a message that was received still has a handle");
  MPI_Barrier(s.comm);
}

/// Sends that many before the one message that the next rank receives first.
void behind_others(Semantics& s, std::size_t count, std::size_t bytes) {
  constexpr int kOthersTag = kMatchTag + 20;
  const Buffer out = s.message(s.rank, kOthersTag, bytes);
  std::vector<MPI_Request> requests(2 * count);
  for (std::size_t i = 0; i < count; ++i)
    MPI_Isend(out.data(), static_cast<int>(bytes), MPI_BYTE, s.next(), kOthersTag, s.comm,
              &requests[i]);
  MPI_Request last;
  MPI_Isend(out.data(), 0, MPI_BYTE, s.next(), kOthersTag + 1, s.comm, &last);
  MPI_Recv(nullptr, 0, MPI_BYTE, s.previous(), kOthersTag + 1, s.comm, MPI_STATUS_IGNORE);
  std::vector<Buffer> in(count, Buffer(bytes));
  for (std::size_t i = 0; i < count; ++i)
    MPI_Irecv(in[i].data(), static_cast<int>(bytes), MPI_BYTE, s.previous(), kOthersTag, s.comm,
              &requests[count + i]);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  MPI_Wait(&last, MPI_STATUS_IGNORE);
  for (const Buffer& each : in)
    s.judge(each, kOthersTag, "a message that many others stood before");
}

/// Another communicator may soon have the same number: it must find nothing of the old one.
void one_after_the_other(Semantics& s) {
  for (int i = 0; i < 10; ++i) {
    MPI_Comm copy;
    MPI_Comm_dup(s.comm, &copy);
    Semantics on_copy{s.proof, copy, s.rank, s.size};
    const Buffer out = on_copy.message(s.rank, i, 100);
    Buffer in(100);
    MPI_Request request;
    MPI_Isend(out.data(), 100, MPI_BYTE, s.next(), i, copy, &request);
    int there = 1;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, s.comm, &there, MPI_STATUS_IGNORE);
    s.proof.expect(there == 0, "a message of another communicator was found");
    MPI_Recv(in.data(), 100, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    on_copy.judge(in, i, "a message on a copy of the communicator");
    MPI_Comm_free(&copy);
  }
}

/// Ranks in reverse order: each rank of the new communicator is another process.
void turned_around(Semantics& s) {
  MPI_Comm turned;
  MPI_Comm_split(s.comm, 0, -s.rank, &turned);
  Semantics on_turned{s.proof, turned, 0, s.size};
  MPI_Comm_rank(turned, &on_turned.rank);
  const Buffer out = on_turned.message(on_turned.rank, kMatchTag + 3, 5000);
  Buffer in(5000);
  MPI_Status status;
  MPI_Sendrecv(out.data(), 5000, MPI_BYTE, on_turned.next(), kMatchTag + 3, in.data(), 5000,
               MPI_BYTE, MPI_ANY_SOURCE, kMatchTag + 3, turned, &status);
  on_turned.judge(in, status, kMatchTag + 3, "a message on a communicator in turned order");
  MPI_Comm_free(&turned);
}

/// Both halves as the groups of one intercommunicator.
void between_groups(Semantics& s) {
  if (s.size < 2) return;
  MPI_Comm half, inter;
  const int side = s.rank % 2;
  MPI_Comm_split(s.comm, side, s.rank, &half);
  MPI_Intercomm_create(half, 0, s.comm, 1 - side, kMatchTag + 4, &inter);
  int rank = 0, remote = 0;
  MPI_Comm_rank(half, &rank);
  MPI_Comm_remote_size(inter, &remote);
  std::vector<int> got(static_cast<std::size_t>(remote), -1);
  std::vector<MPI_Request> requests(static_cast<std::size_t>(2 * remote));
  for (int i = 0; i < remote; ++i) {
    const auto at = static_cast<std::size_t>(i);
    MPI_Irecv(&got[at], 1, MPI_INT, i, kMatchTag + 5, inter, &requests[2 * at]);
    MPI_Isend(&s.rank, 1, MPI_INT, i, kMatchTag + 5, inter, &requests[2 * at + 1]);
  }
  MPI_Waitall(2 * remote, requests.data(), MPI_STATUSES_IGNORE);
  bool good = true;
  for (int i = 0; i < remote; ++i)
    good = good && got[static_cast<std::size_t>(i)] == 2 * i + 1 - side;
  s.proof.expect(good, "an intercommunicator's message came from another rank");
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

}  // namespace

/// More messages than there is credit for, none of which is received before the one after them.
void unreceived(Semantics& s) {
  behind_others(s, 5000, 1);
  behind_others(s, 400, 4096);
  behind_others(s, 60, 300000);
}

/// A receive of any tag waits while Open MPI's own messages, with negative tags, pass by.
void wildcards(Semantics& s) {
  const int tags[] = {0, kMatchTag, largest_tag()};
  for (const int tag : tags) {
    Buffer in(16);
    MPI_Request receive, barrier, sum;
    MPI_Status status;
    MPI_Irecv(in.data(), 16, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, s.comm, &receive);
    int one = 1, total = 0;
    MPI_Iallreduce(&one, &total, 1, MPI_INT, MPI_SUM, s.comm, &sum);
    MPI_Ibarrier(s.comm, &barrier);
    MPI_Wait(&sum, MPI_STATUS_IGNORE);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    MPI_Barrier(s.comm);
    s.proof.expect(total == s.size, "a receive of any tag took a message of a collective");
    int ended = 0;
    MPI_Test(&receive, &ended, &status);
    s.proof.expect(ended == 0, "a receive of any tag ended by a message that was not for it");
    MPI_Barrier(s.comm);
    const Buffer out = s.message(s.rank, tag, 16);
    MPI_Send(out.data(), 16, MPI_BYTE, s.next(), tag, s.comm);
    if (ended == 0) MPI_Wait(&receive, &status);
    s.judge(in, status, tag, "a receive of any tag");
  }
}

void probes(Semantics& s) {
  int there = 1;
  MPI_Barrier(s.comm);
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, s.comm, &there, MPI_STATUS_IGNORE);
  s.proof.expect(there == 0, "a probe found what nobody sent");
  MPI_Barrier(s.comm);
  for (const std::size_t bytes : {0u, 24u, 4096u, 2u << 20}) {
    const Buffer out = s.message(s.rank, kMatchTag + 1, bytes);
    Buffer in(bytes);
    MPI_Request send;
    MPI_Status status;
    MPI_Isend(out.data(), static_cast<int>(bytes), MPI_BYTE, s.next(), kMatchTag + 1, s.comm,
              &send);
    MPI_Probe(s.previous(), kMatchTag + 1, s.comm, &status);
    MPI_Recv(in.data(), static_cast<int>(bytes), MPI_BYTE, s.previous(), kMatchTag + 1, s.comm,
             MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    s.judge(in, status, kMatchTag + 1, "a probed message");
    probed_with_claim(s, bytes, true);
    probed_with_claim(s, bytes, false);
  }
}

void cancelling(Semantics& s) {
  for (const int source : {s.previous(), MPI_ANY_SOURCE}) {
    int in = 0, cancelled = 0;
    MPI_Request receive;
    MPI_Status status;
    MPI_Irecv(&in, 1, MPI_INT, source, kMatchTag + 6, s.comm, &receive);
    MPI_Cancel(&receive);
    MPI_Wait(&receive, &status);
    MPI_Test_cancelled(&status, &cancelled);
    s.proof.expect(cancelled != 0, "a receive that nobody sends to was not cancelled");
  }
  // Later messages find no trace of it.
  const Buffer out = s.message(s.rank, kMatchTag + 6, 4);
  Buffer in(4);
  MPI_Barrier(s.comm);
  MPI_Sendrecv(out.data(), 4, MPI_BYTE, s.next(), kMatchTag + 6, in.data(), 4, MPI_BYTE,
               s.previous(), kMatchTag + 6, s.comm, MPI_STATUS_IGNORE);
  s.judge(in, kMatchTag + 6, "a message after a cancelled receive");
}

void communicators(Semantics& s) {
  one_after_the_other(s);
  turned_around(s);
  between_groups(s);
}

}  // namespace e2e
