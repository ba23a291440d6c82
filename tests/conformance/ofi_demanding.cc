// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/ofi_demanding.cc -- see ofi_demanding.h.
#include "tests/conformance/ofi_demanding.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "transports/ofi/ofi_address.h"

namespace livebtl::conformance {
namespace {

const ofi::Library& installed() {
  const auto found = ofi::library();
  REQUIRE(found.has_value());
  return **found;
}

bool is_mapped(std::uint64_t begin, std::size_t bytes) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t first = begin / page * page;
  const std::size_t whole = begin + bytes - first;
  std::vector<unsigned char> present(whole / page + 1);
  return ::mincore(reinterpret_cast<void*>(first), whole, present.data()) == 0;
}

std::uint64_t number_of(const void* memory) { return reinterpret_cast<std::uint64_t>(memory); }

std::size_t bytes_of_scalar(fi_datatype type) {
  switch (type) {
    case FI_INT64:
    case FI_UINT64:
      return 8;
    default:
      CHECK_MESSAGE((type == FI_INT32 || type == FI_UINT32), "no other scalar is used here");
      return 4;
  }
}

}  // namespace

Demanding* Demanding::current_ = nullptr;

Demanding::Demanding(int memory_modes) : real_(installed()), modes_(memory_modes), library_(real_) {
  REQUIRE(current_ == nullptr);
  library_.getinfo = getinfo;
  library_.fabric = fabric;
  current_ = this;
}

Demanding::~Demanding() { current_ = nullptr; }

template <class Ops, class Function>
void Demanding::divert(Table<Ops>& table, Ops*& used, Function Ops::*call, Function ours) {
  if (used != &table.ours) {
    table.theirs = used;
    table.ours = *used;
    used = &table.ours;
  }
  table.ours.*call = ours;
}

// A provider that asks for more than is offered does not exist.
int Demanding::getinfo(std::uint32_t version, const char* node, const char* service,
                       std::uint64_t flags, const fi_info* hints, fi_info** found) {
  const Demanding& self = *current_;
  *found = nullptr;
  if ((self.modes_ & ~hints->domain_attr->mr_mode) != 0) return -FI_ENODATA;
  const int code = self.real_.getinfo(version, node, service, flags, hints, found);
  for (fi_info* each = *found; each != nullptr; each = each->next)
    each->domain_attr->mr_mode = self.modes_;
  return code;
}

int Demanding::fabric(fi_fabric_attr* attributes, fid_fabric** opened, void* context) {
  Demanding& self = *current_;
  const int code = self.real_.fabric(attributes, opened, context);
  if (code == 0) divert(self.fabric_ops_, (*opened)->ops, &fi_ops_fabric::domain, domain);
  return code;
}

int Demanding::domain(fid_fabric* fabric, fi_info* info, fid_domain** opened, void* context) {
  Demanding& self = *current_;
  const int code = self.fabric_ops_.theirs->domain(fabric, info, opened, context);
  if (code != 0) return code;
  divert(self.domain_ops_, (*opened)->ops, &fi_ops_domain::endpoint, endpoint);
  divert(self.memory_ops_, (*opened)->mr, &fi_ops_mr::reg, reg);
  return 0;
}

int Demanding::endpoint(fid_domain* domain, fi_info* info, fid_ep** opened, void* context) {
  Demanding& self = *current_;
  const int code = self.domain_ops_.theirs->endpoint(domain, info, opened, context);
  if (code != 0) return code;
  self.domain_of_[*opened] = domain;
  divert(self.message_ops_, (*opened)->msg, &fi_ops_msg::recv, recv);
  divert(self.message_ops_, (*opened)->msg, &fi_ops_msg::send, send);
  divert(self.rma_ops_, (*opened)->rma, &fi_ops_rma::readmsg, readmsg);
  divert(self.rma_ops_, (*opened)->rma, &fi_ops_rma::writemsg, writemsg);
  divert(self.atomic_ops_, (*opened)->atomic, &fi_ops_atomic::readwritemsg, fetch_atomicmsg);
  divert(self.atomic_ops_, (*opened)->atomic, &fi_ops_atomic::compwritemsg, compare_atomicmsg);
  return 0;
}

int Demanding::reg(fid* domain, const void* memory, std::size_t bytes, std::uint64_t access,
                   std::uint64_t offset, std::uint64_t wished_key, std::uint64_t flags,
                   fid_mr** region, void* context) {
  Demanding& self = *current_;
  if (self.refuses_landings_ && access == FI_READ && bytes == messages::kExposedBytesMax)
    return -FI_ENOMEM;
  if (self.asks_for(FI_MR_ALLOCATED)) CHECK(is_mapped(number_of(memory), bytes));
  const int code = self.memory_ops_.theirs->reg(domain, memory, bytes, access, offset, wished_key,
                                                flags, region, context);
  if (code != 0) return code;
  divert(self.region_ops_, (*region)->fid.ops, &fi_ops::close, close_region);
  // Otherwise the provider ignores what it was asked, and the test shows nothing.
  CHECK(((*region)->key == wished_key) != self.asks_for(FI_MR_PROV_KEY));
  CHECK((*region)->mem_desc != nullptr);
  const std::pair name{reinterpret_cast<const fid_domain*>(domain),
                       static_cast<const void*>((*region)->mem_desc)};
  CHECK(self.described_.emplace(name, &(*region)->fid).second);
  self.regions_[&(*region)->fid] = {number_of(memory), bytes, access};
  return 0;
}

int Demanding::close_region(fid* region) {
  Demanding& self = *current_;
  std::erase_if(self.described_, [&](const auto& each) { return each.second == region; });
  CHECK(self.regions_.erase(region) == 1);
  return self.region_ops_.theirs->close(region);
}

void Demanding::check_local(fid_ep* endpoint, const void* memory, std::size_t bytes,
                            void* descriptor, std::uint64_t access) {
  if (!asks_for(FI_MR_LOCAL)) return;
  ++locals_;
  const auto described = described_.find({domain_of_[endpoint], descriptor});
  CHECK_MESSAGE(described != described_.end(), "a buffer without a descriptor of a registration");
  if (described == described_.end()) return;
  const Region& region = regions_.at(described->second);
  const std::uint64_t begin = number_of(memory);
  CHECK(begin >= region.begin);
  CHECK(begin + bytes <= region.begin + region.bytes);
  CHECK((region.access & access) == access);
}

ssize_t Demanding::recv(fid_ep* endpoint, void* memory, std::size_t bytes, void* descriptor,
                        fi_addr_t from, void* context) {
  Demanding& self = *current_;
  self.check_local(endpoint, memory, bytes, descriptor, FI_RECV);
  return self.message_ops_.theirs->recv(endpoint, memory, bytes, descriptor, from, context);
}

ssize_t Demanding::send(fid_ep* endpoint, const void* memory, std::size_t bytes, void* descriptor,
                        fi_addr_t to, void* context) {
  Demanding& self = *current_;
  self.check_local(endpoint, memory, bytes, descriptor, FI_SEND);
  return self.message_ops_.theirs->send(endpoint, memory, bytes, descriptor, to, context);
}

void Demanding::check_message(fid_ep* endpoint, const fi_msg_rma& message, std::uint64_t access) {
  CHECK(message.iov_count == 1);
  check_local(endpoint, message.msg_iov->iov_base, message.msg_iov->iov_len, message.desc[0],
              access);
}

ssize_t Demanding::readmsg(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t flags) {
  Demanding& self = *current_;
  self.check_message(endpoint, *message, FI_READ);
  const ssize_t code = self.rma_ops_.theirs->readmsg(endpoint, message, flags);
  if (code == 0) ++self.reads_;
  return code;
}

ssize_t Demanding::writemsg(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t flags) {
  Demanding& self = *current_;
  self.check_message(endpoint, *message, FI_WRITE);
  return self.rma_ops_.theirs->writemsg(endpoint, message, flags);
}

void Demanding::check_atomic(fid_ep* endpoint, const fi_msg_atomic& message) {
  CHECK(message.iov_count == 1);
  check_local(endpoint, message.msg_iov->addr,
              message.msg_iov->count * bytes_of_scalar(message.datatype), message.desc[0],
              FI_WRITE);
}

ssize_t Demanding::fetch_atomicmsg(fid_ep* endpoint, const fi_msg_atomic* message, fi_ioc* fetched,
                                   void** descriptors, std::size_t count, std::uint64_t flags) {
  Demanding& self = *current_;
  CHECK(count == 1);
  self.check_atomic(endpoint, *message);
  self.check_local(endpoint, fetched->addr, fetched->count * bytes_of_scalar(message->datatype),
                   descriptors[0], FI_READ);
  return self.atomic_ops_.theirs->readwritemsg(endpoint, message, fetched, descriptors, count,
                                               flags);
}

ssize_t Demanding::compare_atomicmsg(fid_ep* endpoint, const fi_msg_atomic* message,
                                     const fi_ioc* compare, void** compare_descriptors,
                                     std::size_t compare_count, fi_ioc* fetched,
                                     void** fetched_descriptors, std::size_t fetched_count,
                                     std::uint64_t flags) {
  Demanding& self = *current_;
  CHECK(compare_count == 1);
  CHECK(fetched_count == 1);
  const std::size_t bytes = bytes_of_scalar(message->datatype);
  self.check_atomic(endpoint, *message);
  self.check_local(endpoint, compare->addr, compare->count * bytes, compare_descriptors[0],
                   FI_WRITE);
  self.check_local(endpoint, fetched->addr, fetched->count * bytes, fetched_descriptors[0],
                   FI_READ);
  return self.atomic_ops_.theirs->compwritemsg(endpoint, message, compare, compare_descriptors,
                                               compare_count, fetched, fetched_descriptors,
                                               fetched_count, flags);
}

}  // namespace livebtl::conformance
