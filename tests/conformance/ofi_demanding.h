// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/ofi_demanding.h -- libfabric, except that its providers ask for memory modes of
// our choice, and hold users to them as one with a device would: Debian's ask for next to nothing.
//
// Modes that a provider enforces itself once it must (FI_MR_VIRT_ADDR, FI_MR_PROV_KEY) are left to
// it; what it would not notice (FI_MR_LOCAL, FI_MR_ALLOCATED) is CHECKed here in the calls. One at
// a time; outlives the transports. Threads: the test's alone.
#pragma once

#include <rdma/fi_atomic.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include <map>
#include <utility>

#include "transports/ofi/ofi_library.h"

namespace livebtl::conformance {

class Demanding {
 public:
  explicit Demanding(int memory_modes);
  Demanding(const Demanding&) = delete;
  Demanding& operator=(const Demanding&) = delete;
  ~Demanding();

  const ofi::Library& library() const noexcept { return library_; }
  /// From here on no memory can be registered for payloads to land in.
  void refuse_landings() noexcept { refuses_landings_ = true; }

  std::size_t regions() const noexcept { return regions_.size(); }
  /// Buffers checked for FI_MR_LOCAL, and reads begun.
  std::uint64_t locals() const noexcept { return locals_; }
  std::uint64_t reads() const noexcept { return reads_; }

 private:
  /// One of libfabric's tables, which ours replaces.
  template <class Ops>
  struct Table {
    Ops* theirs = nullptr;
    Ops ours{};
  };
  struct Region {
    std::uint64_t begin = 0, bytes = 0, access = 0;
  };

  template <class Ops, class Function>
  static void divert(Table<Ops>& table, Ops*& used, Function Ops::*call, Function ours);
  static int getinfo(std::uint32_t version, const char* node, const char* service,
                     std::uint64_t flags, const fi_info* hints, fi_info** found);
  static int fabric(fi_fabric_attr* attributes, fid_fabric** opened, void* context);
  static int domain(fid_fabric* fabric, fi_info* info, fid_domain** opened, void* context);
  static int endpoint(fid_domain* domain, fi_info* info, fid_ep** opened, void* context);
  static int reg(fid* domain, const void* memory, std::size_t bytes, std::uint64_t access,
                 std::uint64_t offset, std::uint64_t wished_key, std::uint64_t flags,
                 fid_mr** region, void* context);
  static int close_region(fid* region);
  static ssize_t recv(fid_ep* endpoint, void* memory, std::size_t bytes, void* descriptor,
                      fi_addr_t from, void* context);
  static ssize_t send(fid_ep* endpoint, const void* memory, std::size_t bytes, void* descriptor,
                      fi_addr_t to, void* context);
  static ssize_t readmsg(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t flags);
  static ssize_t writemsg(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t flags);
  static ssize_t fetch_atomicmsg(fid_ep* endpoint, const fi_msg_atomic* message, fi_ioc* fetched,
                                 void** descriptors, std::size_t count, std::uint64_t flags);
  static ssize_t compare_atomicmsg(fid_ep* endpoint, const fi_msg_atomic* message,
                                   const fi_ioc* compare, void** compare_descriptors,
                                   std::size_t compare_count, fi_ioc* fetched,
                                   void** fetched_descriptors, std::size_t fetched_count,
                                   std::uint64_t flags);

  bool asks_for(int memory_mode) const noexcept { return (modes_ & memory_mode) != 0; }
  void check_local(fid_ep* endpoint, const void* memory, std::size_t bytes, void* descriptor,
                   std::uint64_t access);
  void check_message(fid_ep* endpoint, const fi_msg_rma& message, std::uint64_t access);
  void check_atomic(fid_ep* endpoint, const fi_msg_atomic& message);

  static Demanding* current_;
  const ofi::Library& real_;
  const int modes_;
  ofi::Library library_;
  bool refuses_landings_ = false;
  std::uint64_t locals_ = 0, reads_ = 0;
  std::map<const fid*, Region> regions_;
  // By descriptor, which a provider may hand out once per domain.
  std::map<std::pair<const fid_domain*, const void*>, const fid*> described_;
  std::map<const fid_ep*, fid_domain*> domain_of_;  // by endpoint
  Table<fi_ops_fabric> fabric_ops_;
  Table<fi_ops_domain> domain_ops_;
  Table<fi_ops_mr> memory_ops_;
  Table<fi_ops> region_ops_;
  Table<fi_ops_msg> message_ops_;
  Table<fi_ops_rma> rma_ops_;
  Table<fi_ops_atomic> atomic_ops_;
};

}  // namespace livebtl::conformance
