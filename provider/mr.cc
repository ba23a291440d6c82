// SPDX-License-Identifier: BSD-3-Clause
// provider/mr.cc -- fi_mr: memory that peers may read and write. Keys and registrations are the
// engine's; they outlast any transport.
#include <memory>

#include "provider/cntr.h"
#include "provider/domain.h"
#include "provider/provider.h"

namespace livebtl::fi {
namespace {

class Region final : public Object<Region, fid_mr> {
 public:
  Region(Domain& owner, std::uint64_t given_key, void* context) noexcept;
  ~Region() {
    domain.forget_region(key);
    if (counter) counter->drop();
    domain.drop();
  }

  Domain& domain;
  Counter* counter = nullptr;
};

int close_region(fid_t object) {
  Region* const region = &Region::of(object);
  return guarded([&] {
    const Result<Port*> port = region->domain.region_port();
    if (!port) return -errno_of(port.error().code);
    const Status gone = (*port)->deregister_region(region->key);
    if (!gone) return -errno_of(gone.error().code);
    delete region;
    return 0;
  });
}

int bind_region(fid_t object, fid* other, uint64_t flags) {
  Region& region = Region::of(object);
  if (other->fclass == FI_CLASS_EP) return 0;  // any endpoint of the domain serves it
  if (other->fclass != FI_CLASS_CNTR || region.counter) return -FI_EINVAL;
  if (flags != FI_REMOTE_WRITE) return -FI_EBADFLAGS;
  region.counter = &Counter::of(other);
  region.counter->keep();
  region.domain.count_region(region.key, region.counter);
  return 0;
}

int control_region(fid*, int command, void*) { return command == FI_ENABLE ? 0 : -FI_ENOSYS; }

fi_ops region_fid_ops = {
    sizeof(fi_ops), close_region, bind_region, control_region, nosys, nosys, nosys,
};

Region::Region(Domain& owner, std::uint64_t given_key, void* context) noexcept
    : Object(FI_CLASS_MR, region_fid_ops, context), domain(owner) {
  mem_desc = this;  // some programs take null for a failure; no call of ours reads it
  key = given_key;
  domain.keep();
}

Access access_of(std::uint64_t flags) noexcept {
  const bool reads = (flags & FI_REMOTE_READ) != 0;
  const bool writes = (flags & FI_REMOTE_WRITE) != 0;
  if (!reads && !writes) return Access::kNone;
  if (reads && writes) return Access::kReadWrite;
  return reads ? Access::kRead : Access::kWrite;
}

int register_attr(fid_t object, const fi_mr_attr* attr, uint64_t flags, fid_mr** region) {
  constexpr std::uint64_t kFlags = FI_RMA_EVENT;
  if (object->fclass != FI_CLASS_DOMAIN || !attr || attr->offset != 0) return -FI_EINVAL;
  if (attr->iov_count != 1 || flags & ~kFlags) return -FI_EINVAL;
  return guarded([&] {
    Domain& domain = Domain::of(object);
    RegionRequest request;
    request.base = attr->mr_iov[0].iov_base;
    request.bytes = attr->mr_iov[0].iov_len;
    request.access = access_of(attr->access);
    request.virtual_addressing = domain.choices().virtual_addressing;
    if (!domain.choices().made_keys) request.key = attr->requested_key;
    if (request.key && !domain.note_region(*request.key)) return -FI_ENOKEY;
    const Result<Port*> port = domain.region_port();
    Result<std::uint64_t> key =
        port ? (*port)->register_region(request) : tl::unexpected<Error>(port.error());
    if (!key) {
      if (request.key) domain.forget_region(*request.key);
      return -errno_of(key.error().code);
    }
    if (!request.key) domain.note_region(*key);
    *region = new Region(domain, *key, attr->context);
    return 0;
  });
}

int register_v(fid_t object, const iovec* iov, size_t count, uint64_t access, uint64_t offset,
               uint64_t key, uint64_t flags, fid_mr** region, void* context) {
  fi_mr_attr attr{};
  attr.mr_iov = iov;
  attr.iov_count = count;
  attr.access = access;
  attr.offset = offset;
  attr.requested_key = key;
  attr.context = context;
  return register_attr(object, &attr, flags, region);
}

int register_one(fid_t object, const void* base, size_t bytes, uint64_t access, uint64_t offset,
                 uint64_t key, uint64_t flags, fid_mr** region, void* context) {
  const iovec piece = {const_cast<void*>(base), bytes};
  return register_v(object, &piece, 1, access, offset, key, flags, region, context);
}

}  // namespace

fi_ops_mr region_ops = {sizeof(fi_ops_mr), register_one, register_v, register_attr};

}  // namespace livebtl::fi
