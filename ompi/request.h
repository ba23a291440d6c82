// SPDX-License-Identifier: BSD-3-Clause
// ompi/request.h -- an operation in progress as Open MPI knows it (ompi_request_t), as the engine
// knows it (Operation), and what belongs to both; the pool that requests come from.
//
// Threads:   ended() runs under the engine's lock on any thread, all else on the application's.
// Ownership: the pool owns all requests, and never unmaps one. A taken request is its user's until
//            it has ended and was freed, in either order (life.h). It holds a reference to its
//            communicator, and to its datatype if that is needed after the call.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "livebtl/port.h"
#include "ompi/compat.h"
#include "ompi/ended_list.h"
#include "ompi/life.h"
#include "ompi/packing.h"

namespace livebtl::ompi {

/// What is kept of a Completion.
struct Outcome {
  Errc code = Errc::kOk;
  Tag tag = 0;
  std::uint64_t data = 0;
  std::size_t bytes = 0;
  Destination source{};  // of a receive

  void note(const Completion& completion) noexcept {
    code = completion.code;
    tag = completion.tag;
    data = completion.data;
    bytes = completion.bytes;
    source = completion.source;
  }
};

/// The MPI error code of a receive's end; kCancelled is none.
int mpi_error_of(Errc code) noexcept;
/// Of a send's. kCancelled: the receiver has ended without having received it.
int mpi_error_of_send(Errc code) noexcept;
/// status null: MPI_STATUS_IGNORE. Leaves MPI_ERROR alone, as MPI wants it of single completions.
void fill_status(const Outcome& outcome, ompi_status_public_t* status) noexcept;

/// Of a receive: where its sender sent from is known from now on.
void meet_sender(const Outcome& outcome, const ompi_communicator_t& comm) noexcept;

/// An operation that the call that starts it waits for; it lives on the stack.
struct Waiting : Operation {
  Waiting() noexcept { done = note_end; }

  Outcome outcome{};
  std::atomic<bool> ended{false};

 private:
  static void note_end(Operation& operation, const Completion& completion) noexcept;
};

/// What a send or receive is about. A persistent request does it each time that it is started.
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
  kBuffered,  // sends from the program's attached buffer; no user has it
};

struct Request : ompi_request_t, Operation, EndedList::Link {
  Role role = Role::kSend;
  bool holds_datatype = false;
  Life life{};
  Outcome outcome{};
  Call call{};
  std::atomic<ompi_communicator_t*> any_of{nullptr};  // while it is taken, if it is from any source
  std::atomic<bool> unwanted{false};                  // its user wishes to cancel it
  std::byte* bounce = nullptr;  // packed, from malloc(); kBuffered: in the attached buffer

  /// Operation::done of all requests.
  static void ended(Operation& operation, const Completion& completion) noexcept;
  /// After ended(), without a lock: completes it for Open MPI, which may call back.
  void complete() noexcept;

  void hold_datatype() noexcept;
  /// Has ended and is its user's: its status is filled in and its memory for packing given back.
  void settle() noexcept;
  void drop_bounce() noexcept;

 private:
  /// Each returns the MPI error code.
  int settle_receive() noexcept;
  int settle_send() noexcept;
};

class RequestPool {
 public:
  /// Null: no memory. The request is started: a turn of its life has begun.
  Request* take(Role role, const Call& call, bool persistent) noexcept;
  void give_back(Request& request) noexcept;
  /// Calls `visit` for each that receives from any source, or did and is not given back; none is
  /// given back meanwhile.
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
