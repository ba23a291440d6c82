// SPDX-License-Identifier: BSD-3-Clause
// provider/ep.h -- fi_endpoint: one Port, and what is bound to it. msg.cc, tagged.cc, rma.cc and
// atomic.cc turn libfabric's calls into requests; transfer.cc and one_sided.cc start them,
// and transfer.cc completes them.
//
// The bindings are fixed when the endpoint is enabled; the data calls only read them.
#pragma once

#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <atomic>
#include <memory>

#include "provider/av.h"
#include "provider/cntr.h"
#include "provider/cq.h"
#include "provider/domain.h"
#include "provider/service.h"

namespace livebtl::fi {

/// What a completion needs to know about the call that started the operation.
struct Start {
  void* context = nullptr;
  std::uint64_t flags = 0;             // FI_COMPLETION, FI_INJECT, FI_DELIVERY_COMPLETE, ...
  std::uint64_t completion_flags = 0;  // FI_MSG | FI_SEND, ...
};

class Endpoint final : public Object<Endpoint, fid_ep> {
 public:
  Endpoint(Domain& domain, const fi_info& info, void* context);
  ~Endpoint();

  // Set-up. Each returns 0 or a negative error.
  int bind(fid_t object, std::uint64_t flags);
  int enable();
  int set_operation_flags(std::uint64_t flags, std::uint64_t which) noexcept;
  std::uint64_t transmit_flags() const noexcept { return transmit_flags_; }
  std::uint64_t receive_flags() const noexcept { return receive_flags_; }
  std::size_t multi_bytes_min() const noexcept { return multi_bytes_min_; }
  void set_multi_bytes_min(std::size_t bytes) noexcept { multi_bytes_min_ = bytes; }

  // default_*: the flags of a call that takes none. with_*: those of a call that takes some.
  std::uint64_t default_transmit() const noexcept { return transmit_flags_ | transmit_always_; }
  std::uint64_t default_receive() const noexcept { return receive_flags_ | receive_always_; }
  std::uint64_t with_transmit(std::uint64_t flags) const noexcept {
    return flags | transmit_always_;
  }
  std::uint64_t with_receive(std::uint64_t flags) const noexcept { return flags | receive_always_; }

  // Data calls. Each returns 0, or a negative error with nothing taken.
  ssize_t send(SendRequest& request, fi_addr_t to, const Start& start) noexcept;
  ssize_t inject(SendRequest& request, fi_addr_t to) noexcept;
  ssize_t receive(ReceiveRequest& request, fi_addr_t from, const Start& start) noexcept;
  ssize_t peek(ReceiveRequest& request, fi_addr_t from, const Start& start) noexcept;
  ssize_t receive_claimed(std::span<const MutableSlice> slices, const Start& start) noexcept;
  ssize_t put(PutRequest& request, fi_addr_t to, const Start& start) noexcept;
  ssize_t get(GetRequest& request, fi_addr_t to, const Start& start) noexcept;
  /// results: where fetched values go; empty: nothing is fetched.
  ssize_t atomic(AtomicRequest& request, fi_addr_t to, std::span<const MutableSlice> results,
                 const Start& start) noexcept;
  ssize_t cancel(void* context) noexcept;

  Port* port() noexcept { return port_.get(); }
  AddressVector* av() noexcept { return av_; }
  Domain& domain() noexcept { return domain_; }

 private:
  using Done = Operation::Done;

  static void send_done(Operation& operation, const Completion& completion) noexcept;
  static void receive_done(Operation& operation, const Completion& completion) noexcept;
  static void multi_receive_done(Operation& operation, const Completion& completion) noexcept;
  static void one_sided_done(Operation& operation, const Completion& completion) noexcept;
  static void remote_access(void* endpoint, const RemoteAccess& access) noexcept;
  static void finish(Op& op) noexcept;
  void push_multi(Op& op, const Completion& completion) noexcept;

  Op* take(OpPool& pool) noexcept;
  void give_back(Op& op) noexcept;
  void prepare(Op& op, Done done, CompletionQueue* queue, Counter* counter,
               const Start& start) noexcept;
  ssize_t settle(Op& op, Accept accept) noexcept;
  ssize_t settle_one_sided(Op& op, Accept accept) noexcept;
  ssize_t send_injected(SendRequest& request, const Start& start) noexcept;
  ssize_t complete_locally(Op& op, int error) noexcept;
  bool set_source(ReceiveRequest& request, fi_addr_t from) const noexcept;
  /// If the program asked for their order, one-sided operations go one at a time.
  bool must_wait_turn() noexcept;
  Op* begin_one_sided(fi_addr_t to, Destination& found, ssize_t& error) noexcept;

  int bind_queue(CompletionQueue& queue, std::uint64_t flags) noexcept;
  int bind_counter(Counter& counter, std::uint64_t flags) noexcept;
  int check_bound() const noexcept;

  Domain& domain_;
  std::unique_ptr<Port> port_;
  AddressVector* av_ = nullptr;
  CompletionQueue* transmit_queue_ = nullptr;
  CompletionQueue* receive_queue_ = nullptr;
  Counter* send_counter_ = nullptr;
  Counter* receive_counter_ = nullptr;
  Counter* read_counter_ = nullptr;
  Counter* write_counter_ = nullptr;
  Counter* remote_read_counter_ = nullptr;
  Counter* remote_write_counter_ = nullptr;

  std::uint64_t transmit_flags_ = 0;  // from fi_info and fi_control
  std::uint64_t receive_flags_ = 0;
  std::uint64_t transmit_always_ = FI_COMPLETION;  // 0 when completions are selective
  std::uint64_t receive_always_ = FI_COMPLETION;
  const std::uint64_t caps_;
  const bool directed_;  // the source of a receive matters
  const bool one_sided_ordered_;
  std::atomic<int> one_sided_pending_{0};  // counted only if ordered
  std::atomic<bool> closing_{false};
  std::size_t multi_bytes_min_ = 64;
  Address wanted_name_{};  // fi_info's source address
  PublishedService service_;
};

inline Op* Endpoint::take(OpPool& pool) noexcept {
  const std::lock_guard hold(domain_.gate());
  return pool.take();
}

inline void Endpoint::prepare(Op& op, Done done, CompletionQueue* queue, Counter* counter,
                              const Start& start) noexcept {
  op.done = done;
  op.queue = queue;
  op.counter = counter;
  op.report = (start.flags & FI_COMPLETION) != 0;
  op.endpoint = this;
  op.context = start.context;
  op.flags = start.completion_flags;
  op.scatter_count = 0;
  if (done != receive_done) op.no_message();  // a receive's end writes all of this
}

/// The address under which the completion's source was inserted, or FI_ADDR_NOTAVAIL.
fi_addr_t source_of(const Completed& completed) noexcept;

extern fi_ops endpoint_fid_ops;
extern fi_ops_ep endpoint_ops;
extern fi_ops_cm name_ops;
extern fi_ops_msg message_ops;
extern fi_ops_tagged tagged_ops;
extern fi_ops_rma rma_ops;
extern fi_ops_atomic atomic_ops;
extern fi_ops_collective collective_ops;

}  // namespace livebtl::fi
