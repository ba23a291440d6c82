// SPDX-License-Identifier: BSD-3-Clause
// bench/ofi/bare_side.cc -- over one of libfabric's providers, written as in a program that uses
// nothing else (see side.h).
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include <array>
#include <cstring>

#include "bench/ofi/side.h"

namespace livebtl::bench {
namespace {

constexpr std::uint64_t kKey = 7;
constexpr std::size_t kOperations = 64;

void must(long code, const char* what) {
  if (code != 0) give_up(std::string(what) + ": " + ::fi_strerror(static_cast<int>(-code)));
}

struct Close {
  template <class Object>
  void operator()(Object* object) const noexcept {
    ::fi_close(&object->fid);
  }
};
template <class Object>
using Open = std::unique_ptr<Object, Close>;

struct Target {
  std::uint64_t key = 0;
  std::uint64_t address = 0;
};

class BareSide final : public Side {
 public:
  BareSide(const std::string& provider, bool descriptor) {
    choose(provider);
    fid_fabric* fabric = nullptr;
    must(::fi_fabric(info_->fabric_attr, &fabric, nullptr), "fi_fabric");
    fabric_.reset(fabric);
    fid_domain* domain = nullptr;
    must(::fi_domain(fabric, info_.get(), &domain, nullptr), "fi_domain");
    domain_.reset(domain);
    fid_av* addresses = nullptr;
    fi_av_attr vector{};
    must(::fi_av_open(domain, &vector, &addresses, nullptr), "fi_av_open");
    addresses_.reset(addresses);
    fid_cq* queue = nullptr;
    fi_cq_attr completions{};
    completions.size = 1024;
    completions.format = FI_CQ_FORMAT_MSG;
    completions.wait_obj = descriptor ? FI_WAIT_FD : FI_WAIT_NONE;
    must(::fi_cq_open(domain, &completions, &queue, nullptr), "fi_cq_open");
    queue_.reset(queue);
    fid_ep* endpoint = nullptr;
    must(::fi_endpoint(domain, info_.get(), &endpoint, nullptr), "fi_endpoint");
    endpoint_.reset(endpoint);
    must(::fi_ep_bind(endpoint, &addresses->fid, 0), "fi_ep_bind");
    must(::fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    must(::fi_enable(endpoint), "fi_enable");
    expose();
    for (fi_context2& each : contexts_) free_[free_count_++] = &each;
  }

  void meet_as_origin(const Wire& wire) override {
    const Blob name = wire.receive(), there = wire.receive();
    if (there.size() != sizeof there_) give_up("the target is of another build");
    std::memcpy(&there_, there.data(), sizeof there_);
    if (::fi_av_insert(addresses_.get(), name.data(), 1, &target_, 0, nullptr) != 1)
      give_up("fi_av_insert takes no name");
  }
  void meet_as_target(const Wire& wire) override {
    Blob name(256);
    std::size_t bytes = name.size();
    must(::fi_getname(&endpoint_->fid, name.data(), &bytes), "fi_getname");
    name.resize(bytes);
    wire.send(name);
    const Target own{::fi_mr_key(region_.get()),
                     (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0
                         ? reinterpret_cast<std::uint64_t>(memory_.data())
                         : 0};
    Blob told(sizeof own);
    std::memcpy(told.data(), &own, sizeof own);
    wire.send(told);
  }

  bool put(std::size_t bytes) override {
    if (free_count_ == 0) return false;
    const iovec here{memory_.data(), bytes};
    const fi_rma_iov there{there_.address, bytes, there_.key};
    void* descriptor = ::fi_mr_desc(region_.get());
    fi_msg_rma message{};
    message.msg_iov = &here;
    message.desc = &descriptor;
    message.iov_count = 1;
    message.addr = target_;
    message.rma_iov = &there;
    message.rma_iov_count = 1;
    message.context = free_[free_count_ - 1];
    return began(::fi_writemsg(endpoint_.get(), &message, FI_COMPLETION | FI_DELIVERY_COMPLETE));
  }

  bool fetch_add() override {
    if (free_count_ == 0) return false;
    void* descriptor = ::fi_mr_desc(region_.get());
    auto* const words = reinterpret_cast<std::uint64_t*>(memory_.data());
    words[0] = 1;
    return began(::fi_fetch_atomic(endpoint_.get(), &words[0], 1, descriptor, &words[1], descriptor,
                                   target_, there_.address, there_.key, FI_UINT64, FI_SUM,
                                   free_[free_count_ - 1]));
  }

  std::uint64_t progress() override {
    std::array<fi_cq_msg_entry, 16> entries;
    const long count = ::fi_cq_read(queue_.get(), entries.data(), entries.size());
    if (count == -FI_EAVAIL) {
      fi_cq_err_entry error{};
      (void)::fi_cq_readerr(queue_.get(), &error, 0);
      must(-error.err, "an operation");
    }
    if (count < 0 && count != -FI_EAGAIN) must(count, "fi_cq_read");
    for (long i = 0; i < count; ++i) {
      void* const context = entries[static_cast<std::size_t>(i)].op_context;
      if (context == nullptr) continue;  // the other side's
      free_[free_count_++] = static_cast<fi_context2*>(context);
      ++done_;
    }
    return done_;
  }

 private:
  struct FreeInfo {
    void operator()(fi_info* info) const noexcept { ::fi_freeinfo(info); }
  };

  void choose(const std::string& provider) {
    std::unique_ptr<fi_info, FreeInfo> hints(::fi_allocinfo());
    hints->caps = FI_MSG | FI_RMA | FI_ATOMIC;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->fabric_attr->prov_name = ::strdup(provider.c_str());
    fi_info* found = nullptr;
    must(::fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints.get(), &found), "fi_getinfo");
    found->tx_attr->op_flags = 0;
    info_.reset(found);
  }

  void expose() {
    fid_mr* region = nullptr;
    must(::fi_mr_reg(domain_.get(), memory_.data(), memory_.size(),
                     FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 0, kKey, 0, &region,
                     nullptr),
         "fi_mr_reg");
    region_.reset(region);
  }

  bool began(long code) {
    if (code == -FI_EAGAIN) return false;
    must(code, "an operation");
    --free_count_;
    return true;
  }

  Blob memory_ = Blob(kBytesMax);
  Target there_;
  fi_addr_t target_ = FI_ADDR_NOTAVAIL;
  std::array<fi_context2, kOperations> contexts_{};
  std::array<fi_context2*, kOperations> free_{};
  std::size_t free_count_ = 0;
  std::uint64_t done_ = 0;
  // In this order, so that what was opened later is closed first.
  std::unique_ptr<fi_info, FreeInfo> info_;
  Open<fid_fabric> fabric_;
  Open<fid_domain> domain_;
  Open<fid_mr> region_;
  Open<fid_av> addresses_;
  Open<fid_cq> queue_;
  Open<fid_ep> endpoint_;
};

}  // namespace

std::unique_ptr<Side> make_bare(const std::string& provider, bool descriptor) {
  return std::make_unique<BareSide>(provider, descriptor);
}

}  // namespace livebtl::bench
