// SPDX-License-Identifier: BSD-3-Clause
// ompi/request.cc -- see request.h.
#include "ompi/request.h"

#include <new>

#include "ompi/door.h"
#include "ompi/matching.h"

namespace livebtl::ompi {

int mpi_error_of(Errc code) noexcept {
  switch (code) {
    case Errc::kOk:
    case Errc::kCancelled:
      return MPI_SUCCESS;
    case Errc::kTruncated:
      return MPI_ERR_TRUNCATE;
    case Errc::kNoMemory:
      return MPI_ERR_NO_MEM;
    case Errc::kPeerLost:
      tell_peer_lost();
      return MPI_ERR_OTHER;
    default:
      return MPI_ERR_OTHER;
  }
}

int mpi_error_of_send(Errc code) noexcept {
  if (code != Errc::kCancelled) return mpi_error_of(code);
  tell_not_taken();
  return MPI_ERR_OTHER;
}

void fill_status(const Outcome& outcome, ompi_status_public_t* status) noexcept {
  if (status == MPI_STATUS_IGNORE) return;
  const bool matched = outcome.code == Errc::kOk || outcome.code == Errc::kTruncated;
  status->MPI_SOURCE = matched ? rank_of(outcome.data) : MPI_ANY_SOURCE;
  status->MPI_TAG = matched ? mpi_tag_of(outcome.tag) : MPI_ANY_TAG;
  status->_ucount = outcome.bytes;
  status->_cancelled = outcome.code == Errc::kCancelled ? 1 : 0;
}

void meet_sender(const Outcome& outcome, const ompi_communicator_t& comm) noexcept {
  if (outcome.source.peer != nullptr) CommPeers::met(comm, rank_of(outcome.data), outcome.source);
}

void Waiting::note_end(Operation& operation, const Completion& completion) noexcept {
  Waiting& waiting = static_cast<Waiting&>(operation);
  waiting.outcome.note(completion);
  waiting.ended.store(true, std::memory_order_release);  // the last access: it may be gone now
}

void Request::ended(Operation& operation, const Completion& completion) noexcept {
  Request& request = static_cast<Request&>(operation);
  request.outcome.note(completion);
  door->ended.push(request);
}

void Request::hold_datatype() noexcept {
  OMPI_DATATYPE_RETAIN(call.elements.datatype);
  holds_datatype = true;
}

void Request::drop_bounce() noexcept {
  if (bounce == nullptr) return;
  if (role == Role::kBuffered) {
    mca_pml_base_bsend_request_free(bounce);
  } else {
    std::free(bounce);
  }
  bounce = nullptr;
}

int Request::settle_receive() noexcept {
  fill_status(outcome, &req_status);
  meet_sender(outcome, *call.comm);
  const bool unpacked = bounce == nullptr || unpack(call.elements, bounce, outcome.bytes);
  return unpacked ? mpi_error_of(outcome.code) : MPI_ERR_TYPE;
}

// MPI leaves the status of a send undefined, but osc/pt2pt reads from it what it sent with which
// tag. A send counts as cancelled if its user asked for that and nobody has received it.
int Request::settle_send() noexcept {
  const bool cancelled =
      outcome.code == Errc::kCancelled && unwanted.load(std::memory_order_relaxed);
  req_status.MPI_SOURCE = call.comm->c_my_rank;
  req_status.MPI_TAG = call.tag;
  req_status._ucount = outcome.bytes;
  req_status._cancelled = cancelled ? 1 : 0;
  const bool nobody_waits = cancelled || role == Role::kBuffered;
  return nobody_waits ? mpi_error_of(outcome.code) : mpi_error_of_send(outcome.code);
}

void Request::settle() noexcept {
  req_status.MPI_ERROR = role == Role::kReceive ? settle_receive() : settle_send();
  drop_bounce();
}

void Request::complete() noexcept {
  // The sender is dead, or may be, or has ended before it had sent everything.
  const bool theirs = role == Role::kReceive && !unwanted.load(std::memory_order_relaxed);
  if (outcome.code == Errc::kCancelled && theirs) outcome.code = Errc::kPeerLost;
  settle();
  if (role == Role::kBuffered) return door->requests.give_back(*this);
  const Life::Turn turn = life.turn();
  ompi_request_complete(this, true);
  if (life.end(turn, calling_threads())) door->requests.give_back(*this);
}

namespace {

int free_request(ompi_request_t** handle) {
  Request& request = static_cast<Request&>(**handle);
  *handle = MPI_REQUEST_NULL;
  if (request.life.free(calling_threads())) door->requests.give_back(request);
  return OMPI_SUCCESS;
}

int cancel_request(ompi_request_t* handle, int) {
  Request& request = static_cast<Request&>(*handle);
  request.unwanted.store(true, std::memory_order_relaxed);
  // A send goes on, as MPI allows; it is cancelled if its receiver ends without receiving it.
  if (request.role == Role::kReceive && door->port.cancel(request)) door->drain();
  return OMPI_SUCCESS;
}

}  // namespace

std::unique_lock<std::mutex> RequestPool::lock() noexcept {
  std::unique_lock<std::mutex> guard(mutex_, std::defer_lock);
  if (opal_using_threads()) guard.lock();
  return guard;
}

bool RequestPool::grow() noexcept {
  try {
    chunks_.reserve(chunks_.size() + 1);
    auto chunk = std::make_unique<Request[]>(kChunk);
    for (std::size_t i = 0; i < kChunk; ++i) {
      Request& made = chunk[i];
      OBJ_CONSTRUCT(static_cast<ompi_request_t*>(&made), ompi_request_t);
      made.req_type = OMPI_REQUEST_PML;
      made.req_free = free_request;
      made.req_cancel = cancel_request;
      made.done = Request::ended;
      made.next = free_;
      free_ = &made;
    }
    chunks_.push_back(std::move(chunk));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

Request* RequestPool::take_free() noexcept {
  const auto guard = lock();
  if (free_ == nullptr && !grow()) return nullptr;
  Request* const taken = free_;
  free_ = static_cast<Request*>(taken->next);
  return taken;
}

Request* RequestPool::take(Role role, bool persistent) noexcept {
  Request* const taken = take_free();
  if (taken == nullptr) return nullptr;
  OMPI_REQUEST_INIT(taken, persistent);
  taken->req_state = OMPI_REQUEST_ACTIVE;
  taken->role = role;
  taken->life.begin();
  taken->unwanted.store(false, std::memory_order_relaxed);
  return taken;
}

// Releasing a communicator's last reference makes Open MPI call del_comm: not under the lock.
void RequestPool::give_back(Request& request) noexcept {
  OMPI_REQUEST_FINI(&request);
  if (request.holds_datatype) {
    OMPI_DATATYPE_RELEASE(request.call.elements.datatype);
    request.holds_datatype = false;
  }
  ompi_communicator_t* comm = request.call.comm;
  {
    const auto guard = lock();
    request.any_of.store(nullptr, std::memory_order_relaxed);
    request.next = free_;
    free_ = &request;
  }
  OBJ_RELEASE(comm);
}

}  // namespace livebtl::ompi
