// SPDX-License-Identifier: BSD-3-Clause
// provider/domain.cc -- see domain.h.
#include "provider/domain.h"

#include "provider/attr.h"
#include "provider/cntr.h"
#include "provider/fabric.h"
#include "provider/old_names.h"
#include "provider/provider.h"
#include "provider/wait.h"

namespace livebtl::fi {
namespace {

std::atomic<std::uint32_t> next_space{1};

int bind_domain(fid*, fid* other, uint64_t flags) {
  // An event queue is for asynchronous registrations; ours are done when the call returns.
  if (other->fclass != FI_CLASS_EQ) return -FI_EINVAL;
  return flags & kReportRegistrations ? -FI_ENOSYS : 0;
}

fi_ops domain_fid_ops = {
    sizeof(fi_ops), close_object<Domain>, bind_domain, nosys, nosys, nosys, nosys,
};
fi_ops_domain domain_ops = {
    .size = sizeof(fi_ops_domain),
    .av_open = open_address_vector,
    .cq_open = open_completion_queue,
    .endpoint = open_endpoint,
    .scalable_ep = nosys,
    .cntr_open = open_counter,
    .poll_open = open_poll_set,
    .stx_ctx = nosys,
    .srx_ctx = nosys,
    .query_atomic = query_atomic,
    .query_collective = nosys,
    .endpoint2 = nosys,
};

}  // namespace

Domain::Domain(Fabric& fabric, std::shared_ptr<Engine> engine, const DomainChoices& choices,
               void* context)
    : Object(FI_CLASS_DOMAIN, domain_fid_ops, context),
      fabric_(fabric),
      engine_(std::move(engine)),
      choices_(choices),
      space_(next_space.fetch_add(1, std::memory_order_relaxed)),
      gate_(choices.several_threads),
      transmits_(kTransmitsMax),
      receives_(kReceivesMax) {
  ops = &domain_ops;
  mr = &region_ops;
  fabric_.keep();
}

Domain::~Domain() { fabric_.drop(); }

Result<Port*> Domain::region_port() {
  const std::lock_guard hold(region_port_lock_);
  if (!region_port_) {
    auto port = engine_->open_port({space_});
    if (!port) return tl::unexpected<Error>(port.error());
    region_port_ = std::move(*port);
  }
  return region_port_.get();
}

bool Domain::note_region(std::uint64_t key) {
  const std::lock_guard hold(regions_lock_);
  return regions_.emplace(key, nullptr).second;
}

// In a forked child the lock may be held by the agent's thread, which does not exist there.
void Domain::forget_region(std::uint64_t key) {
  if (made_by_ != ::getpid()) return;
  count_region(key, nullptr);
  const std::lock_guard hold(regions_lock_);
  regions_.erase(key);
}

void Domain::count_region(std::uint64_t key, Counter* counter) {
  const std::lock_guard hold(regions_lock_);
  const auto found = regions_.find(key);
  if (found == regions_.end() || found->second == counter) return;
  if (!found->second) counted_regions_.fetch_add(1, std::memory_order_relaxed);
  if (!counter) counted_regions_.fetch_sub(1, std::memory_order_relaxed);
  found->second = counter;
}

void Domain::region_modified(std::uint64_t key) noexcept {
  if (counted_regions_.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard hold(regions_lock_);
  const auto found = regions_.find(key);
  if (found != regions_.end() && found->second) found->second->count(0);
}

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context) {
  if (!info || !info->domain_attr) return -FI_EINVAL;
  return guarded([&] {
    auto engine = Engine::acquire();
    if (!engine) {
      tell_user(engine.error());
      return -errno_of(engine.error().code);
    }
    *domain = new Domain(Fabric::of(fabric), std::move(*engine), choices_of(*info), context);
    return 0;
  });
}

}  // namespace livebtl::fi
