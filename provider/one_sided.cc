// SPDX-License-Identifier: BSD-3-Clause
// provider/one_sided.cc -- starts puts, gets and atomics on the port: the application's side.
#include "provider/ep.h"
#include "provider/provider.h"

namespace livebtl::fi {
namespace {

std::size_t total_bytes(std::span<const MutableSlice> slices) noexcept {
  std::size_t bytes = 0;
  for (const MutableSlice& slice : slices) bytes += slice.bytes;
  return bytes;
}

}  // namespace

/// Finds the target, claims the operation's turn and takes its storage. null: `error` says why not.
Op* Endpoint::begin_one_sided(fi_addr_t to, Destination& found, ssize_t& error) noexcept {
  const Destination* const destination = av_->find(to);
  if (!destination) {
    error = -FI_EINVAL;
    return nullptr;
  }
  found = *destination;
  error = -FI_EAGAIN;
  if (must_wait_turn()) return nullptr;
  Op* const op = take(domain_.transmits());
  if (!op) one_sided_pending_.store(0);
  return op;
}

ssize_t Endpoint::put(PutRequest& request, fi_addr_t to, const Start& start) noexcept {
  ssize_t error = 0;
  Op* const op = begin_one_sided(to, request.to, error);
  if (!op) return error;
  prepare(*op, one_sided_done, transmit_queue_, write_counter_, start);
  Slice copy;
  if (start.flags & FI_INJECT) {
    const Accept copied = copy_to_bounce(*op, request.slices, copy);
    if (copied != Accept::kAccepted) return settle_one_sided(*op, copied);
    request.slices = {&copy, 1};
  }
  return settle_one_sided(*op, port_->put(request, *op));
}

ssize_t Endpoint::get(GetRequest& request, fi_addr_t to, const Start& start) noexcept {
  ssize_t error = 0;
  Op* const op = begin_one_sided(to, request.to, error);
  if (!op) return error;
  prepare(*op, one_sided_done, transmit_queue_, read_counter_, start);
  return settle_one_sided(*op, port_->get(request, *op));
}

ssize_t Endpoint::atomic(AtomicRequest& request, fi_addr_t to,
                         std::span<const MutableSlice> results, const Start& start) noexcept {
  ssize_t error = 0;
  Op* const op = begin_one_sided(to, request.to, error);
  if (!op) return error;
  Counter* const counter = results.empty() ? write_counter_ : read_counter_;
  prepare(*op, one_sided_done, transmit_queue_, counter, start);
  if (results.size() == 1) {
    request.fetched = results[0].data;
  } else if (!results.empty()) {
    if (total_bytes(results) > kBounceBytes) return settle_one_sided(*op, Accept::kInvalid);
    if (!bounce_of(*op)) return settle_one_sided(*op, Accept::kBusy);
    request.fetched = op->bounce.get();
    op->scatter_count = results.size();
    for (std::size_t i = 0; i < results.size(); ++i) op->scatter[i] = results[i];
  }
  return settle_one_sided(*op, port_->atomic(request, *op));
}

ssize_t Endpoint::settle_one_sided(Op& op, Accept accept) noexcept {
  if (accept != Accept::kAccepted && one_sided_ordered_) one_sided_pending_.store(0);
  return settle(op, accept);
}

}  // namespace livebtl::fi
