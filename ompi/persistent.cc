// SPDX-License-Identifier: BSD-3-Clause
// ompi/persistent.cc -- requests that are started repeatedly. Each start does what the plain call
// would have done.
#include "ompi/calls.h"
#include "ompi/door.h"

namespace livebtl::ompi {
namespace {

/// Makes an inactive request, its user's until MPI_Request_free.
int make(Role role, const Call& call, ompi_request_t** handle) noexcept {
  Request* const request = door->requests.take(role, true);
  if (request == nullptr) return MPI_ERR_NO_MEM;
  request->begin(call);
  request->hold_datatype();
  request->req_start = start;
  request->req_state = OMPI_REQUEST_INACTIVE;
  (void)request->life.end(request->life.turn(), calling_threads());
  *handle = request;
  return MPI_SUCCESS;
}

// Even a request that ends at once is completed by the next progress(): osc/pt2pt is not prepared
// for its callback while it starts the request.
int start_one(Request& request) noexcept {
  request.life.begin();
  request.req_state = OMPI_REQUEST_ACTIVE;
  request.req_complete = REQUEST_PENDING;
  request.unwanted.store(false, std::memory_order_relaxed);
  bool ended = false;
  const int error =
      request.role == Role::kReceive ? start_receive(request) : start_send(request, ended);
  if (error != MPI_SUCCESS) {
    request.req_state = OMPI_REQUEST_INACTIVE;
    request.req_complete = REQUEST_COMPLETED;
    (void)request.life.end(request.life.turn(), calling_threads());
    return error;
  }
  if (ended) {
    request.outcome = {};
    door->ended.push_from_call(request);
  }
  return MPI_SUCCESS;
}

}  // namespace

int isend_init(const void* buffer, std::size_t count, ompi_datatype_t* datatype, int rank, int tag,
               mca_pml_base_send_mode_t mode, ompi_communicator_t* comm, ompi_request_t** request) {
  return make(Role::kSend, {elements(buffer, count, datatype), rank, tag, comm, mode}, request);
}

int irecv_init(void* buffer, std::size_t count, ompi_datatype_t* datatype, int rank, int tag,
               ompi_communicator_t* comm, ompi_request_t** request) {
  return make(Role::kReceive, {{buffer, count, datatype}, rank, tag, comm}, request);
}

int start(std::size_t count, ompi_request_t** requests) {
  for (std::size_t i = 0; i < count; ++i) {
    if (requests[i] == nullptr || requests[i]->req_type != OMPI_REQUEST_PML) continue;
    const int error = start_one(static_cast<Request&>(*requests[i]));
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace livebtl::ompi
