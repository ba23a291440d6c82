// SPDX-License-Identifier: BSD-3-Clause
// ompi/receive.cc -- MPI's receives, of messages to come and of those that a probe has set aside.
//
// Contiguous elements are received in place; others are received packed, into the request's own
// memory, and unpacked when it completes.
#include "ompi/calls.h"
#include "ompi/door.h"
#include "ompi/matching.h"

namespace livebtl::ompi {

int describe(int rank, int tag, ompi_communicator_t& comm, ReceiveRequest& request) noexcept {
  const std::uint32_t context = context_of(comm);
  if (tag == MPI_ANY_TAG) {
    request.tag = tag_of(context, 0);
    request.ignore = kAnyUserTag;
  } else {
    request.tag = tag_of(context, tag);
  }
  return rank == MPI_ANY_SOURCE ? MPI_SUCCESS : CommPeers::find(comm, rank, request.from);
}

namespace {

/// A message to come, or one set aside.
struct Source {
  ReceiveRequest request{};
  ClaimedMessage* claimed = nullptr;
};

inline int start(Source& from, std::byte* memory, std::size_t bytes,
                 Operation& operation) noexcept {
  const MutableSlice slice{memory, bytes};
  from.request.slices = {&slice, bytes == 0 ? 0u : 1u};
  const Accept accept = from.claimed == nullptr ? door->port.receive(from.request, operation)
                                                : door->port.receive_claimed(
                                                      from.claimed, from.request.slices, operation);
  return accept == Accept::kAccepted ? MPI_SUCCESS : MPI_ERR_INTERN;
}

/// Starts the operation of a request whose turn has begun. On an error nothing is started.
int post(Request& request, Source& from) noexcept {
  const Elements& elements = request.call.elements;
  const std::size_t bytes = elements.bytes();
  std::byte* memory = elements.first();
  if (!elements.straight() && bytes != 0) {
    memory = request.bounce = static_cast<std::byte*>(std::malloc(bytes));
    if (memory == nullptr) return MPI_ERR_NO_MEM;
    if (!request.holds_datatype) request.hold_datatype();
  }
  const int error = start(from, memory, bytes, request);
  if (error != MPI_SUCCESS) request.drop_bounce();
  return error;
}

[[gnu::always_inline]] inline int post_new(const Call& call, Source& from,
                                           Request** posted) noexcept {
  Request* const request = door->requests.take(Role::kReceive, false);
  if (request == nullptr) {
    if (from.claimed != nullptr) door->port.discard_claimed(from.claimed);
    return MPI_ERR_NO_MEM;
  }
  request->begin(call);
  const int error = post(*request, from);
  if (error != MPI_SUCCESS) {
    if (from.claimed != nullptr) door->port.discard_claimed(from.claimed);
    door->requests.give_back(*request);
    return error;
  }
  *posted = request;
  if (call.rank == MPI_ANY_SOURCE && door->anybody_lost()) [[unlikely]]
    end_if_doubtful(*request, *call.comm);
  return MPI_SUCCESS;
}

/// A receive from any source ends with kPeerLost once a member of its communicator is dead.
inline void wait_while_anybody_may_send(int rank, const ompi_communicator_t& comm,
                                        Waiting& waiting) noexcept {
  for (;;) {
    if (rank == MPI_ANY_SOURCE && door->anybody_lost() && has_dead_member(comm))
      door->port.cancel(waiting);
    if (door->wait_for(waiting)) break;
  }
  // The user cannot have cancelled it: there is no handle.
  if (waiting.outcome.code == Errc::kCancelled) waiting.outcome.code = Errc::kPeerLost;
}

[[gnu::noinline]] int receive_by_request(const Call& call, Source& from,
                                         ompi_status_public_t* status) noexcept {
  Request* request = nullptr;
  const int error = post_new(call, from, &request);
  return error == MPI_SUCCESS ? wait_and_free(*request, status) : error;
}

/// With a single thread, Open MPI need not know of the operation.
[[gnu::always_inline]] inline int receive_and_wait(const Call& call, Source& from,
                                                   ompi_status_public_t* status) noexcept {
  if (opal_using_threads() || !call.elements.straight())
    return receive_by_request(Call(call), from, status);
  Waiting waiting;
  const int error = start(from, call.elements.first(), call.elements.bytes(), waiting);
  if (error != MPI_SUCCESS) return error;
  wait_while_anybody_may_send(call.rank, *call.comm, waiting);
  if (call.rank == MPI_ANY_SOURCE || from.claimed != nullptr) [[unlikely]]
    meet_sender(waiting.outcome, *call.comm);
  if (status != MPI_STATUS_IGNORE) fill_status(waiting.outcome, status);
  const Errc code = waiting.outcome.code;
  return code == Errc::kOk ? MPI_SUCCESS : mpi_error_of(code);  // usually no call
}

/// Consumes the message; its reference to the communicator becomes the caller's.
Source take_message(ompi_message_t** message, ompi_communicator_t** comm) noexcept {
  Source from;
  from.claimed = static_cast<ClaimedMessage*>((*message)->req_ptr);
  *comm = (*message)->comm;
  ompi_message_return(*message);
  *message = MPI_MESSAGE_NULL;
  return from;
}

}  // namespace

int irecv(void* buffer, std::size_t count, ompi_datatype_t* datatype, int rank, int tag,
          ompi_communicator_t* comm, ompi_request_t** request) {
  Source from;
  if (const int error = describe(rank, tag, *comm, from.request); error != MPI_SUCCESS)
    return error;
  Request* posted = nullptr;
  const int error = post_new({{buffer, count, datatype}, rank, tag, comm}, from, &posted);
  if (error == MPI_SUCCESS) *request = posted;
  return error;
}

int recv(void* buffer, std::size_t count, ompi_datatype_t* datatype, int rank, int tag,
         ompi_communicator_t* comm, ompi_status_public_t* status) {
  Source from;
  if (const int error = describe(rank, tag, *comm, from.request); error != MPI_SUCCESS)
    return error;
  return receive_and_wait({{buffer, count, datatype}, rank, tag, comm}, from, status);
}

int imrecv(void* buffer, std::size_t count, ompi_datatype_t* datatype, ompi_message_t** message,
           ompi_request_t** request) {
  ompi_communicator_t* comm = nullptr;
  Source from = take_message(message, &comm);
  Request* posted = nullptr;
  const int error = post_new({{buffer, count, datatype}, 0, 0, comm}, from, &posted);
  if (error == MPI_SUCCESS) *request = posted;
  OBJ_RELEASE(comm);
  return error;
}

int mrecv(void* buffer, std::size_t count, ompi_datatype_t* datatype, ompi_message_t** message,
          ompi_status_public_t* status) {
  ompi_communicator_t* comm = nullptr;
  Source from = take_message(message, &comm);
  const int error = receive_and_wait({{buffer, count, datatype}, 0, 0, comm}, from, status);
  OBJ_RELEASE(comm);
  return error;
}

int start_receive(Request& request) noexcept {
  const Call& call = request.call;
  Source from;
  if (const int error = describe(call.rank, call.tag, *call.comm, from.request);
      error != MPI_SUCCESS)
    return error;
  const int error = post(request, from);
  if (error == MPI_SUCCESS && call.rank == MPI_ANY_SOURCE && door->anybody_lost()) [[unlikely]]
    end_if_doubtful(request, *call.comm);
  return error;
}

int wait_and_free(Request& request, ompi_status_public_t* status) noexcept {
  ompi_request_wait_completion(&request);
  const int error = request.req_status.MPI_ERROR;
  if (status != MPI_STATUS_IGNORE) OMPI_COPY_STATUS(status, request.req_status, false);
  ompi_request_t* handle = &request;
  ompi_request_free(&handle);
  return error;
}

}  // namespace livebtl::ompi
