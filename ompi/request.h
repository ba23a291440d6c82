// SPDX-License-Identifier: BSD-3-Clause
// ompi/request.h -- an operation in progress as Open MPI knows it (ompi_request_t), as the engine
// knows it (Operation), and what belongs to both; the pool that requests come from.
//
// Threads:   ended() runs under the engine's lock on any thread; all else on the application's.
// Ownership: the pool owns all requests, and frees none while it lives. A taken request is its
//            user's until it has both ended and been freed, in either order (life.h). It holds a
//            reference to its communicator, and to its datatype if needed after the call.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/as_stored.h"
#include "livebtl/port.h"
#include "ompi/compat.h"
#include "ompi/ended_list.h"
#include "ompi/life.h"
#include "ompi/packing.h"

namespace livebtl::ompi {

/// The part of a Completion that is kept.
struct Outcome {
  Errc code = Errc::kOk;
  Tag tag = 0;
  std::uint64_t data = 0;
  std::size_t bytes = 0;
  Destination source{};  // of a receive

  void note(const Completion& completion) noexcept {
    code = completion.code;
    tag = as_stored(completion.tag);
    data = as_stored(completion.data);
    bytes = as_stored(completion.bytes);
    source = completion.source;
  }
};

/// The MPI error code of a receive's end; kCancelled is not an error.
int mpi_error_of(Errc code) noexcept;
/// The same for a send. kCancelled: the receiver has ended without receiving the message.
int mpi_error_of_send(Errc code) noexcept;
/// status null: MPI_STATUS_IGNORE. Leaves MPI_ERROR alone, as MPI requires for single completions.
void fill_status(const Outcome& outcome, ompi_status_public_t* status) noexcept;

/// After a receive: remembers where its sender sent from.
void meet_sender(const Outcome& outcome, const ompi_communicator_t& comm) noexcept;

/// An operation on the stack of the call that starts it and waits for it.
struct Waiting : Operation {
  Waiting() noexcept { done = note_end; }

  Outcome outcome{};
  std::atomic<bool> ended{false};

 private:
  static void note_end(Operation& operation, const Completion& completion) noexcept;
};

/// What a send or receive does. A persistent request does it at each start.
struct Call {
  Elements elements{};
  int rank = 0;
  int tag = 0;
  ompi_communicator_t* comm = nullptr;
  mca_pml_base_send_mode_t mode = MCA_PML_BASE_SEND_STANDARD;
};

enum class Role : std::uint8_t {
  kSend,
  kReceive,
  kBuffered,  // sends from the program's attached buffer; has no user
};

struct Request : ompi_request_t, Operation, EndedList::Link {
  Role role = Role::kSend;
  bool holds_datatype = false;
  Life life{};
  Outcome outcome{};
  Call call{};
  std::atomic<ompi_communicator_t*> any_of{nullptr};  // set while taken, if it is from any source
  std::atomic<bool> unwanted{false};                  // its user has asked to cancel it
  std::byte* bounce = nullptr;  // packed elements, from malloc(); kBuffered: in the attached buffer

  /// Operation::done of all requests.
  static void ended(Operation& operation, const Completion& completion) noexcept;
  /// After ended(), without a lock: completes it for Open MPI, which may call back.
  void complete() noexcept;

  /// What it is to do, the first thing after it was taken. Refers to the communicator until it is
  /// given back.
  void begin(const Call& what) noexcept {
    req_mpi_object.comm = what.comm;
    OBJ_RETAIN(what.comm);
    call = what;
    if (role == Role::kReceive && what.rank == MPI_ANY_SOURCE)
      any_of.store(what.comm, std::memory_order_release);
  }
  void hold_datatype() noexcept;
  /// After the end: fills in the status and gives back the memory for packing.
  void settle() noexcept;
  void drop_bounce() noexcept;

 private:
  /// Each returns the MPI error code.
  int settle_receive() noexcept;
  int settle_send() noexcept;
};

class RequestPool {
 public:
  /// Null: no memory. A turn of the request's life has begun; begin() follows.
  Request* take(Role role, bool persistent) noexcept;
  void give_back(Request& request) noexcept;
  /// Calls `visit` for each request that receives from any source, or did and is not yet given
  /// back; none is given back meanwhile.
  template <class Visit>
  void for_each_from_any(Visit visit) noexcept {
    const auto guard = lock();
    for (const auto& chunk : chunks_) {
      for (std::size_t i = 0; i < kChunk; ++i) {
        ompi_communicator_t* const comm = chunk[i].any_of.load(std::memory_order_acquire);
        if (comm != nullptr) visit(chunk[i], *comm);
      }
    }
  }

 private:
  static constexpr std::size_t kChunk = 64;

  bool grow() noexcept;
  Request* take_free() noexcept;
  std::unique_lock<std::mutex> lock() noexcept;

  std::mutex mutex_;
  Request* free_ = nullptr;  // linked by EndedList::Link
  std::vector<std::unique_ptr<Request[]>> chunks_;
};

}  // namespace livebtl::ompi
