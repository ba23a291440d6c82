// SPDX-License-Identifier: BSD-3-Clause
// ompi/send.cc -- MPI's sends in all their modes.
//
// Small messages are injected: they are done when the call returns, and have no request. A message
// that is larger, synchronous, or cannot be injected now becomes an operation. Elements that are
// not contiguous are packed: on the stack if they are injected, else into the request's own memory.
#include "ompi/calls.h"
#include "ompi/door.h"
#include "ompi/matching.h"

namespace livebtl::ompi {
namespace {

/// Injected messages are at most this long, whatever the engine would take: they may be packed on
/// the stack.
constexpr std::size_t kInjectedMax = kInjectBytesMin;

SendRequest described(const Call& call, const Destination& to) noexcept {
  SendRequest request;
  request.to = to;
  request.tag = tag_of(context_of(*call.comm), call.tag);
  request.has_data = true;
  request.data = static_cast<std::uint64_t>(call.comm->c_my_rank);
  request.delivery_complete = call.mode == MCA_PML_BASE_SEND_SYNCHRONOUS;
  return request;
}

int mpi_error_of(Accept accept) noexcept {
  switch (accept) {
    case Accept::kAccepted:
      return MPI_SUCCESS;
    case Accept::kPeerLost:
      return ompi::mpi_error_of(Errc::kPeerLost);
    case Accept::kBusy:
    case Accept::kInvalid:
      break;
  }
  return MPI_ERR_INTERN;
}

Accept inject_from(SendRequest& request, const std::byte* data, std::size_t bytes) noexcept {
  const Slice slice{data, bytes};
  request.slices = {&slice, bytes == 0 ? 0u : 1u};
  return door->port.inject(request);
}

// By value: so the usual caller, which does not get here, need not have them in memory.
[[gnu::noinline]] Accept inject_packed(SendRequest& request, Elements elements) noexcept {
  std::byte packed[kInjectedMax];
  if (!pack(elements, packed)) return Accept::kInvalid;
  return inject_from(request, packed, elements.bytes());
}

/// kBusy: the message must become an operation.
inline Accept inject(const Call& call, const Destination& to) noexcept {
  const std::size_t bytes = call.elements.bytes();
  if (bytes > kInjectedMax || call.mode == MCA_PML_BASE_SEND_SYNCHRONOUS) return Accept::kBusy;
  SendRequest request = described(call, to);
  if (call.elements.straight()) [[likely]]
    return inject_from(request, call.elements.first(), bytes);
  return inject_packed(request, call.elements);
}

/// Never kBusy: the door's port waits in operations.
Accept send_from(const Call& call, const Destination& to, const std::byte* data,
                 Operation& operation) noexcept {
  const std::size_t bytes = call.elements.bytes();
  const Slice slice{data, bytes};
  SendRequest request = described(call, to);
  request.slices = {&slice, bytes == 0 ? 0u : 1u};
  return door->port.send(request, operation);
}

/// Memory in the program's attached buffer. Earlier messages there may end soon: each attempt that
/// finds no room makes progress once.
std::byte* attached_memory(std::size_t bytes) noexcept {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    if (void* const memory = mca_pml_base_bsend_request_alloc_buf(bytes == 0 ? 1 : bytes))
      return static_cast<std::byte*>(memory);
  }
  return nullptr;
}

/// Memory for the packed bytes.
std::byte* memory_for(const Call& call) noexcept {
  const std::size_t bytes = call.elements.bytes();
  return call.mode == MCA_PML_BASE_SEND_BUFFERED ? attached_memory(bytes)
                                                 : static_cast<std::byte*>(std::malloc(bytes));
}

bool needs_copy(const Call& call) noexcept {
  return call.mode == MCA_PML_BASE_SEND_BUFFERED ||
         (!call.elements.straight() && call.elements.bytes() != 0);
}

/// Starts the operation of a request that is in its turn. On an error nothing is started.
int post(Request& request, const Destination& to) noexcept {
  const Call& call = request.call;
  const std::byte* data = call.elements.first();
  if (needs_copy(call)) {
    request.bounce = memory_for(call);
    if (request.bounce == nullptr) {
      return call.mode == MCA_PML_BASE_SEND_BUFFERED ? MPI_ERR_BUFFER : MPI_ERR_NO_MEM;
    }
    if (!pack(call.elements, request.bounce)) {
      request.drop_bounce();
      return MPI_ERR_TYPE;
    }
    data = request.bounce;
  }
  const Accept accept = send_from(call, to, data, request);
  if (accept != Accept::kAccepted) request.drop_bounce();
  return mpi_error_of(accept);
}

/// Makes and starts a request for what could not be injected.
int post_new(Role role, const Call& call, const Destination& to, Request** posted) noexcept {
  Request* const request = door->requests.take(role, false);
  if (request == nullptr) return MPI_ERR_NO_MEM;
  request->begin(call);
  const int error = post(*request, to);
  if (error != MPI_SUCCESS) {
    door->requests.give_back(*request);
    return error;
  }
  *posted = request;
  return MPI_SUCCESS;
}

/// The program is done with the message at once; the request is ours alone.
int send_buffered(const Call& call, const Destination& to) noexcept {
  Request* own = nullptr;
  return post_new(Role::kBuffered, call, to, &own);
}

[[gnu::noinline]] int isend_operation(const Call& call, const Destination& to,
                                      ompi_request_t** request) noexcept {
  if (call.mode == MCA_PML_BASE_SEND_BUFFERED) return send_buffered(call, to);
  Request* posted = nullptr;
  const int error = post_new(Role::kSend, call, to, &posted);
  if (error == MPI_SUCCESS) *request = posted;
  return error;
}

/// With a single thread, Open MPI need not know of the operation.
[[gnu::noinline]] int send_operation(const Call& call, const Destination& to) noexcept {
  if (call.mode == MCA_PML_BASE_SEND_BUFFERED) return send_buffered(call, to);
  if (opal_using_threads() || !call.elements.straight()) {
    Request* request = nullptr;
    const int error = post_new(Role::kSend, call, to, &request);
    return error == MPI_SUCCESS ? wait_and_free(*request, MPI_STATUS_IGNORE) : error;
  }
  Waiting waiting;
  const Accept accept = send_from(call, to, call.elements.first(), waiting);
  if (accept != Accept::kAccepted) return mpi_error_of(accept);
  door->wait_for_end(waiting);
  return mpi_error_of_send(waiting.outcome.code);
}

}  // namespace

int isend(const void* buffer, std::size_t count, ompi_datatype_t* datatype, int rank, int tag,
          mca_pml_base_send_mode_t mode, ompi_communicator_t* comm, ompi_request_t** request) {
  Destination to;
  if (const int error = CommPeers::find(*comm, rank, to); error != MPI_SUCCESS) return error;
  *request = &ompi_request_empty;
  const Elements what = elements(buffer, count, datatype);
  const Accept injected = inject({what, rank, tag, comm, mode}, to);
  if (injected != Accept::kBusy) return mpi_error_of(injected);
  return isend_operation({what, rank, tag, comm, mode}, to, request);
}

int send(const void* buffer, std::size_t count, ompi_datatype_t* datatype, int rank, int tag,
         mca_pml_base_send_mode_t mode, ompi_communicator_t* comm) {
  Destination to;
  if (const int error = CommPeers::find(*comm, rank, to); error != MPI_SUCCESS) return error;
  const Elements what = elements(buffer, count, datatype);
  const Accept injected = inject({what, rank, tag, comm, mode}, to);
  if (injected != Accept::kBusy) return mpi_error_of(injected);
  return send_operation({what, rank, tag, comm, mode}, to);
}

int start_send(Request& request, bool& ended) noexcept {
  const Call& call = request.call;
  ended = true;
  Destination to;
  if (const int error = CommPeers::find(*call.comm, call.rank, to); error != MPI_SUCCESS)
    return error;
  const Accept injected = inject(call, to);
  if (injected != Accept::kBusy) return mpi_error_of(injected);
  if (call.mode == MCA_PML_BASE_SEND_BUFFERED) return send_buffered(call, to);
  const int error = post(request, to);
  ended = error != MPI_SUCCESS;
  return error;
}

}  // namespace livebtl::ompi
