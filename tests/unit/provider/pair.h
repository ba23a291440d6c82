// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/provider/pair.h -- two endpoints of one domain over the fake engine, made through the
// provider's own entry point and closed in order.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_prov.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>

#include "fake_engine.h"

extern "C" fi_provider* fi_prov_ini();

namespace livebtl::fake {

struct FreeInfo {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

inline int ask(const fi_info* hints, Info& info, const char* node = nullptr,
               const char* service = nullptr, std::uint64_t flags = 0,
               std::uint32_t version = FI_VERSION(1, 17)) {
  ::setenv("FI_PROVIDER", "livebtl", 1);  // the provider is offered only to those who name it
  fi_info* found = nullptr;
  const int error = fi_prov_ini()->getinfo(version, node, service, flags, hints, &found);
  info.reset(found);
  return error;
}

struct PairOptions {
  std::uint64_t caps = 0;  // 0: all but directed receive
  fi_threading threading = FI_THREAD_SAFE;
  fi_wait_obj wait = FI_WAIT_NONE;
  std::uint64_t bind_flags = 0;  // or FI_SELECTIVE_COMPLETION
  std::uint64_t op_flags = 0;    // of sends and receives
  std::uint64_t msg_order = 0;
  int mr_mode = 0;
  bool counts_remote = false;  // b counts what a reads and writes there
};

/// Endpoint a (index 0) and b (index 1), each with a queue of its own and both addresses in `av`.
class Pair {
 public:
  explicit Pair(const PairOptions& options = {}) {
    Info hints(fi_allocinfo());
    hints->caps = options.caps ? options.caps : FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
    hints->domain_attr->threading = options.threading;
    hints->domain_attr->mr_mode = options.mr_mode;
    hints->tx_attr->op_flags = options.op_flags;
    hints->rx_attr->op_flags = options.op_flags & FI_COMPLETION;
    hints->tx_attr->msg_order = options.msg_order;
    check(ask(hints.get(), info));
    check(fi_prov_ini()->fabric(info->fabric_attr, &fabric, nullptr));
    check(fi_domain(fabric, info.get(), &domain, nullptr));
    fi_av_attr av_attr{};
    check(fi_av_open(domain, &av_attr, &av, nullptr));
    for (int i = 0; i < 2; ++i) open_end(i, options);
  }
  ~Pair() {
    for (fid_ep* end : ep) fi_close(&end->fid);
    for (fid_cq* queue : cq) fi_close(&queue->fid);
    for (fid_cntr* counter : {remote_reads, remote_writes}) {
      if (counter) fi_close(&counter->fid);
    }
    fi_close(&av->fid);
    fi_close(&domain->fid);
    fi_close(&fabric->fid);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  /// The next entry of end `i`'s queue, or what fi_cq_read returned.
  ssize_t next(int i, fi_cq_tagged_entry& entry) {
    entry = {};
    return fi_cq_read(cq[i], &entry, 1);
  }

  Info info;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  fid_av* av = nullptr;
  fid_cq* cq[2] = {};
  fid_ep* ep[2] = {};
  fi_addr_t address[2] = {};
  fid_cntr* remote_reads = nullptr;
  fid_cntr* remote_writes = nullptr;

 private:
  static void check(int error) {
    if (error) throw error;
  }

  void bind_counter(fid_cntr*& counter, std::uint64_t flags) {
    fi_cntr_attr attr{};
    check(fi_cntr_open(domain, &attr, &counter, nullptr));
    check(fi_ep_bind(ep[1], &counter->fid, flags));
  }

  void open_end(int i, const PairOptions& options) {
    fi_cq_attr cq_attr{};
    cq_attr.format = FI_CQ_FORMAT_TAGGED;
    cq_attr.wait_obj = options.wait;
    check(fi_cq_open(domain, &cq_attr, &cq[i], nullptr));
    check(fi_endpoint(domain, info.get(), &ep[i], nullptr));
    check(fi_ep_bind(ep[i], &av->fid, 0));
    check(fi_ep_bind(ep[i], &cq[i]->fid, FI_TRANSMIT | FI_RECV | options.bind_flags));
    if (options.counts_remote && i == 1) {
      bind_counter(remote_reads, FI_REMOTE_READ);
      bind_counter(remote_writes, FI_REMOTE_WRITE);
    }
    check(fi_enable(ep[i]));
    Address name;
    std::size_t bytes = name.raw.size();
    check(fi_getname(&ep[i]->fid, name.raw.data(), &bytes));
    check(fi_av_insert(av, name.raw.data(), 1, &address[i], 0, nullptr) == 1 ? 0 : -1);
  }
};

}  // namespace livebtl::fake
