// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_calls.h -- the libibverbs calls that we use, as one table: filled by the
// library when it is first needed (verbs_library.cc), and by a fake fabric in tests.
//
// Each does what the ibv_ function of its name does, and reports errors the same way. The inline
// functions that libibverbs has over a context's own operations are calls here as well.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "livebtl/result.h"

namespace livebtl::verbs {

/// What became of a work request. Taken with an error: it is queued, but the device was not told.
struct Posted {
  bool taken = true;
  int error = 0;
};

class Calls {
 public:
  virtual ~Calls() = default;

  virtual ibv_device** get_device_list(int* count) = 0;
  virtual void free_device_list(ibv_device** list) = 0;
  virtual ibv_context* open_device(ibv_device* device) = 0;
  virtual int close_device(ibv_context* context) = 0;
  virtual int query_device(ibv_context* context, ibv_device_attr* attributes) = 0;
  virtual int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes) = 0;
  /// Nonzero also for an entry that is empty.
  virtual int query_gid(ibv_context* context, std::uint8_t port, int index,
                        ibv_gid_entry* entry) = 0;

  virtual ibv_pd* alloc_pd(ibv_context* context) = 0;
  virtual int dealloc_pd(ibv_pd* domain) = 0;
  virtual ibv_mr* reg_mr(ibv_pd* domain, void* begin, std::size_t bytes, int access) = 0;
  virtual int dereg_mr(ibv_mr* region) = 0;
  /// Not a libibverbs call: how much memory this process may lock (RLIMIT_MEMLOCK).
  virtual std::size_t lockable_bytes() = 0;
  virtual ibv_comp_channel* create_comp_channel(ibv_context* context) = 0;
  virtual int destroy_comp_channel(ibv_comp_channel* channel) = 0;
  virtual ibv_cq* create_cq(ibv_context* context, int entries, ibv_comp_channel* channel) = 0;
  virtual int destroy_cq(ibv_cq* queue) = 0;
  virtual ibv_srq* create_srq(ibv_pd* domain, ibv_srq_init_attr* attributes) = 0;
  virtual int destroy_srq(ibv_srq* queue) = 0;
  virtual ibv_qp* create_qp(ibv_pd* domain, ibv_qp_init_attr* attributes) = 0;
  virtual int modify_qp(ibv_qp* pair, ibv_qp_attr* attributes, int mask) = 0;
  virtual int destroy_qp(ibv_qp* pair) = 0;

  /// Posts one request.
  virtual Posted post_send(ibv_qp* pair, ibv_send_wr* work) = 0;
  /// Not a libibverbs call: tells the device of requests that were taken, where that failed
  /// (verbs_bell.h).
  virtual int ring(ibv_qp* pair) = 0;
  virtual int post_srq_recv(ibv_srq* queue, ibv_recv_wr* work) = 0;
  virtual int poll_cq(ibv_cq* queue, int count_max, ibv_wc* done) = 0;
  virtual int req_notify_cq(ibv_cq* queue) = 0;
  /// Takes one event, if there is one, and acknowledges it. Nonzero: none.
  virtual int take_cq_event(ibv_comp_channel* channel) = 0;
  virtual int get_async_event(ibv_context* context, ibv_async_event* event) = 0;
  virtual void ack_async_event(ibv_async_event* event) = 0;
};

/// The installed library. It is opened once per process and stays: its drivers cannot be unloaded.
/// Before the first call the process holds nothing of it. Under the engine's lock.
/// Errors: kUnsupported (not installed, or too old), with what to install.
Result<Calls*> library();

}  // namespace livebtl::verbs
