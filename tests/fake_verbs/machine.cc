// SPDX-License-Identifier: BSD-3-Clause
// tests/fake_verbs/machine.cc -- devices, contexts and ports of the fake fabric; creates and
// destroys its objects (see fabric.h).
#include <arpa/inet.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tests/fake_verbs/fabric.h"

namespace livebtl::fake_verbs {
namespace {

int dead(const ibv_context* context) { return static_cast<const Context*>(context)->dead; }

template <class Object>
Object* refuse(int error) {
  errno = error;
  return nullptr;
}

}  // namespace

verbs::Gid gid(const std::string& text) {
  verbs::Gid parsed{};
  inet_pton(AF_INET6, text.c_str(), parsed.data());
  return parsed;
}

Adapter::Adapter(std::string its_name, GidEntry entry) : gids{entry} {
  std::strncpy(device.name, its_name.c_str(), sizeof device.name - 1);
  std::strncpy(device.dev_name, "uverbs0", sizeof device.dev_name - 1);
  device.transport_type = IBV_TRANSPORT_IB;
}

Machine::~Machine() {
  for (auto& adapter : adapters_) std::erase(fabric_.adapters_, adapter.get());
}

Adapter& Machine::add(const std::string& name, GidEntry entry) {
  adapters_.push_back(std::make_unique<Adapter>(name, entry));
  fabric_.adapters_.push_back(adapters_.back().get());
  return *adapters_.back();
}

ibv_device** Machine::get_device_list(int* count) {
  auto* list = new ibv_device*[adapters_.size() + 1]();
  *count = 0;
  for (auto& adapter : adapters_) {
    if (adapter->lost_error == 0) list[(*count)++] = &adapter->device;
  }
  return list;
}

void Machine::free_device_list(ibv_device** list) { delete[] list; }

ibv_context* Machine::open_device(ibv_device* device) {
  const std::lock_guard lock(fabric_.mutex_);
  const auto found = std::find_if(adapters_.begin(), adapters_.end(),
                                  [&](const auto& each) { return &each->device == device; });
  if (found == adapters_.end()) return refuse<ibv_context>(ENODEV);
  if ((*found)->open_error != 0) return refuse<ibv_context>((*found)->open_error);
  auto* context = new Context{};
  context->adapter = found->get();
  context->device = device;
  // A name of its own: several players share a test process, and each looks for what it left.
  const std::string name = "fake-uverbs" + std::to_string(fabric_.next_key_++);
  context->command = Fd(::memfd_create(name.c_str(), MFD_CLOEXEC));
  context->async = Fd(::eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC));
  context->cmd_fd = context->command.number();
  context->async_fd = context->async.number();
  (*found)->contexts.push_back(context);
  fabric_.contexts_.insert(context);
  return context;
}

int Machine::close_device(ibv_context* context) {
  const std::lock_guard lock(fabric_.mutex_);
  auto* known = static_cast<Context*>(context);
  for (const Domain* domain : fabric_.domains_) {
    if (domain->context == context) ++fabric_.faults_.still_in_use;
  }
  if (known->unacknowledged != 0) ++fabric_.faults_.still_in_use;
  known->adapter->contexts.remove(known);
  return fabric_.forget(fabric_.contexts_, known) ? 0 : EINVAL;
}

int Machine::query_device(ibv_context* context, ibv_device_attr* attributes) {
  const Adapter& adapter = *static_cast<Context*>(context)->adapter;
  *attributes = {};
  attributes->phys_port_cnt = 1;
  attributes->max_srq = adapter.max_srq;
  attributes->max_srq_wr = adapter.max_srq_wr;
  attributes->max_cqe = adapter.max_cqe;
  attributes->max_qp = adapter.max_qp;
  return dead(context);
}

int Machine::query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes) {
  const std::lock_guard lock(fabric_.mutex_);
  const Adapter& adapter = *static_cast<Context*>(context)->adapter;
  if (dead(context) != 0 || adapter.lost_error != 0) return ENODEV;
  if (port != 1) return EINVAL;
  *attributes = {};
  attributes->state = adapter.port_state;
  attributes->active_mtu = adapter.mtu;
  attributes->link_layer = adapter.link_layer;
  attributes->lid = adapter.lid;
  attributes->flags = adapter.grh_required ? IBV_QPF_GRH_REQUIRED : 0;
  attributes->gid_tbl_len = 16;
  return 0;
}

int Machine::query_gid(ibv_context* context, std::uint8_t, int index, ibv_gid_entry* entry) {
  const std::lock_guard lock(fabric_.mutex_);
  const Adapter& adapter = *static_cast<Context*>(context)->adapter;
  if (static_cast<std::size_t>(index) >= adapter.gids.size()) return ENODATA;
  const GidEntry& found = adapter.gids[static_cast<std::size_t>(index)];
  std::memcpy(entry->gid.raw, found.gid.data(), found.gid.size());
  entry->gid_type = found.type;
  entry->ndev_ifindex = found.network_device;
  return 0;
}

ibv_pd* Machine::alloc_pd(ibv_context* context) {
  const std::lock_guard lock(fabric_.mutex_);
  auto* domain = new Domain{};
  domain->context = context;
  fabric_.domains_.insert(domain);
  return domain;
}

int Machine::dealloc_pd(ibv_pd* domain) {
  const std::lock_guard lock(fabric_.mutex_);
  for (const Region* region : fabric_.regions_) {
    if (region->pd == domain) ++fabric_.faults_.still_in_use;
  }
  for (const Pair* pair : fabric_.pairs_) {
    if (pair->pd == domain) ++fabric_.faults_.still_in_use;
  }
  return fabric_.forget(fabric_.domains_, domain) ? 0 : EINVAL;
}

ibv_mr* Machine::reg_mr(ibv_pd* domain, void* begin, std::size_t bytes, int access) {
  const std::lock_guard lock(fabric_.mutex_);
  Adapter& adapter = *static_cast<Context*>(domain->context)->adapter;
  if (dead(domain->context) != 0) return refuse<ibv_mr>(dead(domain->context));
  if (adapter.registered + bytes > adapter.register_max) return refuse<ibv_mr>(ENOMEM);
  const bool of_users = bytes > 128u << 10 && bytes <= 512u << 10;
  if (of_users && bytes > adapter.user_register_max) return refuse<ibv_mr>(ENOMEM);
  if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0)
    ++fabric_.faults_.writable;
  adapter.registered += bytes;
  auto* region = new Region{};
  region->context = domain->context;
  region->pd = domain;
  region->addr = begin;
  region->length = bytes;
  region->access = access;
  region->lkey = region->rkey = fabric_.next_key_++;
  fabric_.regions_.insert(region);
  return region;
}

int Machine::dereg_mr(ibv_mr* region) {
  const std::lock_guard lock(fabric_.mutex_);
  static_cast<Context*>(region->context)->adapter->registered -= region->length;
  return fabric_.forget(fabric_.regions_, region) ? 0 : EINVAL;
}

std::size_t Machine::lockable_bytes() {
  const std::lock_guard lock(fabric_.mutex_);
  return adapters_.empty() ? 0 : adapters_.front()->lockable;
}

ibv_comp_channel* Machine::create_comp_channel(ibv_context* context) {
  const std::lock_guard lock(fabric_.mutex_);
  auto* channel = new Channel{};
  channel->event = Fd(::eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC));
  channel->fd = channel->event.number();
  channel->context = context;
  fabric_.channels_.insert(channel);
  return channel;
}

int Machine::destroy_comp_channel(ibv_comp_channel* channel) {
  const std::lock_guard lock(fabric_.mutex_);
  for (const Queue* queue : fabric_.queues_) {
    if (queue->channel == channel) ++fabric_.faults_.still_in_use;
  }
  return fabric_.forget(fabric_.channels_, channel) ? 0 : EINVAL;
}

ibv_cq* Machine::create_cq(ibv_context* context, int entries, ibv_comp_channel* channel) {
  const std::lock_guard lock(fabric_.mutex_);
  if (dead(context) != 0) return refuse<ibv_cq>(dead(context));
  auto* queue = new Queue{};
  queue->context = context;
  queue->channel = channel;
  queue->channel_events = static_cast<Channel*>(channel);
  queue->cqe = entries;
  fabric_.queues_.insert(queue);
  return queue;
}

int Machine::destroy_cq(ibv_cq* queue) {
  const std::lock_guard lock(fabric_.mutex_);
  for (const Pair* pair : fabric_.pairs_) {
    if (pair->send_cq == queue || pair->recv_cq == queue) ++fabric_.faults_.still_in_use;
  }
  return fabric_.forget(fabric_.queues_, queue) ? 0 : EINVAL;
}

ibv_srq* Machine::create_srq(ibv_pd* domain, ibv_srq_init_attr* attributes) {
  const std::lock_guard lock(fabric_.mutex_);
  auto* queue = new SharedQueue{};
  queue->context = domain->context;
  queue->pd = domain;
  queue->max = attributes->attr.max_wr;
  fabric_.shared_.insert(queue);
  return queue;
}

int Machine::destroy_srq(ibv_srq* queue) {
  const std::lock_guard lock(fabric_.mutex_);
  for (const Pair* pair : fabric_.pairs_) {
    if (pair->srq == queue) ++fabric_.faults_.still_in_use;
  }
  return fabric_.forget(fabric_.shared_, queue) ? 0 : EINVAL;
}

}  // namespace livebtl::fake_verbs
