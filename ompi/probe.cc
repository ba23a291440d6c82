// SPDX-License-Identifier: BSD-3-Clause
// ompi/probe.cc -- MPI's probes, with and without setting the message aside.
#include "ompi/calls.h"
#include "ompi/door.h"
#include "ompi/matching.h"

namespace livebtl::ompi {
namespace {

struct Found {
  bool there = false;
  Outcome outcome{};
  ClaimedMessage* claimed = nullptr;
};

Found peek(const ReceiveRequest& like, bool claim) noexcept {
  Completion seen;
  Found found;
  found.there = door->port.peek(like, seen, claim ? &found.claimed : nullptr);
  if (!found.there) return found;
  found.outcome.note(seen);
  found.outcome.bytes = seen.message_bytes;
  return found;
}

/// Makes progress, as a program that only probes would otherwise never move anything.
Found look(const ReceiveRequest& like, bool claim) noexcept {
  Found found = peek(like, claim);
  if (found.there) return found;
  opal_progress();
  return peek(like, claim);
}

/// Is the sender dead? From any source, one dead member is enough, as for a receive.
bool is_doubtful(int rank, const ReceiveRequest& like, const ompi_communicator_t& comm) noexcept {
  if (rank != MPI_ANY_SOURCE) return is_dead(like.from);
  return door->anybody_lost() && has_dead_member(comm);
}

/// A last look: nothing more will come; what came meanwhile counts. Returns an MPI error code.
int look_for_the_last(const ReceiveRequest& like, bool claim, Found& found) noexcept {
  found = peek(like, claim);
  return found.there ? MPI_SUCCESS : mpi_error_of(Errc::kPeerLost);
}

/// One look, for a caller that does not wait. From any source, others may still send; a caller that
/// names a dead process gets an error.
int look_once(int rank, const ompi_communicator_t& comm, const ReceiveRequest& like, bool claim,
              Found& found) noexcept {
  found = look(like, claim);
  if (found.there || rank == MPI_ANY_SOURCE || !door->anybody_lost() ||
      !is_doubtful(rank, like, comm)) [[likely]]
    return MPI_SUCCESS;
  return look_for_the_last(like, claim, found);
}

/// Returns an MPI error code.
int wait_until_there(int rank, const ompi_communicator_t& comm, const ReceiveRequest& like,
                     bool claim, Found& found) noexcept {
  constexpr unsigned kLooksBetweenDoubts = 1000;
  for (unsigned looks = 1;; ++looks) {
    found = look(like, claim);
    if (found.there) return MPI_SUCCESS;
    if (looks % kLooksBetweenDoubts == 0 && is_doubtful(rank, like, comm))
      return look_for_the_last(like, claim, found);
  }
}

/// Null: no memory, and the message is lost. The message holds its communicator, which the program
/// may free before it receives the message.
ompi_message_t* message_of(const Found& found, ompi_communicator_t* comm) noexcept {
  ompi_message_t* const message = ompi_message_alloc();
  if (message == nullptr) {
    door->port.discard_claimed(found.claimed);
    return nullptr;
  }
  message->comm = comm;
  OBJ_RETAIN(comm);
  message->req_ptr = found.claimed;
  message->peer = rank_of(found.outcome.data);
  message->count = found.outcome.bytes;
  return message;
}

}  // namespace

int iprobe(int rank, int tag, ompi_communicator_t* comm, int* matched,
           ompi_status_public_t* status) {
  ReceiveRequest like;
  if (const int error = describe(rank, tag, *comm, like); error != MPI_SUCCESS) return error;
  Found found;
  const int error = look_once(rank, *comm, like, false, found);
  *matched = found.there ? 1 : 0;
  if (found.there) fill_status(found.outcome, status);
  return error;
}

int probe(int rank, int tag, ompi_communicator_t* comm, ompi_status_public_t* status) {
  ReceiveRequest like;
  if (const int error = describe(rank, tag, *comm, like); error != MPI_SUCCESS) return error;
  Found found;
  if (const int error = wait_until_there(rank, *comm, like, false, found); error != MPI_SUCCESS)
    return error;
  fill_status(found.outcome, status);
  return MPI_SUCCESS;
}

int improbe(int rank, int tag, ompi_communicator_t* comm, int* matched, ompi_message_t** message,
            ompi_status_public_t* status) {
  ReceiveRequest like;
  if (const int error = describe(rank, tag, *comm, like); error != MPI_SUCCESS) return error;
  Found found;
  const int error = look_once(rank, *comm, like, true, found);
  *matched = found.there ? 1 : 0;
  if (!found.there) return error;
  *message = message_of(found, comm);
  if (*message == nullptr) return MPI_ERR_NO_MEM;
  fill_status(found.outcome, status);
  return MPI_SUCCESS;
}

int mprobe(int rank, int tag, ompi_communicator_t* comm, ompi_message_t** message,
           ompi_status_public_t* status) {
  ReceiveRequest like;
  if (const int error = describe(rank, tag, *comm, like); error != MPI_SUCCESS) return error;
  Found found;
  if (const int error = wait_until_there(rank, *comm, like, true, found); error != MPI_SUCCESS)
    return error;
  *message = message_of(found, comm);
  if (*message == nullptr) return MPI_ERR_NO_MEM;
  fill_status(found.outcome, status);
  return MPI_SUCCESS;
}

}  // namespace livebtl::ompi
