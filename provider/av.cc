// SPDX-License-Identifier: BSD-3-Clause
// provider/av.cc -- see av.h.
#include "provider/av.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "provider/eq.h"
#include "provider/provider.h"
#include "provider/service.h"

namespace livebtl::fi {
namespace {

int bind_vector(fid_t object, fid* other, uint64_t) {
  AddressVector& av = AddressVector::of(object);
  if (other->fclass != FI_CLASS_EQ || av.bound()) return -FI_EINVAL;
  av.bind(EventQueue::of(other));
  return 0;
}

void report_inserted(AddressVector& av, void* context, std::size_t inserted) {
  const fi_eq_entry entry = {&av.fid, context, inserted};
  av.bound()->write(FI_AV_COMPLETE, &entry, sizeof entry);
}

void report_failed(AddressVector& av, void* context, std::size_t index, int error) {
  fi_eq_err_entry entry{};
  entry.fid = &av.fid;
  entry.context = context;
  entry.data = index;
  entry.err = error;
  entry.prov_errno = error;
  av.bound()->write_error(entry);
}

/// If the vector was opened with FI_EVENT, the count is reported as an event.
int insert_addresses(fid_av* object, const void* addresses, size_t count, fi_addr_t* results,
                     uint64_t flags, void* context) {
  return guarded([&] {
    AddressVector& av = AddressVector::of(object);
    if (av.tells() && !av.bound()) return -FI_ENOEQ;
    int inserted = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Address raw;
      std::memcpy(raw.raw.data(), static_cast<const std::byte*>(addresses) + i * kAddressBytes,
                  kAddressBytes);
      fi_addr_t address = FI_ADDR_NOTAVAIL;
      const int error = av.insert(raw, address);
      if (results) results[i] = error ? FI_ADDR_NOTAVAIL : address;
      if (flags & FI_SYNC_ERR && context) static_cast<int*>(context)[i] = -error;
      if (error && av.tells()) report_failed(av, context, i, -error);
      inserted += error ? 0 : 1;
    }
    if (!av.tells()) return inserted;
    report_inserted(av, context, static_cast<std::size_t>(inserted));
    return 0;
  });
}

int insert_service(fid_av* object, const char* node, const char* service, fi_addr_t* result,
                   uint64_t flags, void* context) {
  const Result<Address> address = service_address(node, service);
  if (!address) return -FI_ENODATA;
  return insert_addresses(object, address->raw.data(), 1, result, flags, context);
}

int remove_addresses(fid_av* object, fi_addr_t* addresses, size_t count, uint64_t flags) {
  if (flags != 0) return -FI_EINVAL;
  for (std::size_t i = 0; i < count; ++i) {
    if (const int error = AddressVector::of(object).remove(addresses[i])) return error;
  }
  return 0;
}

int look_up(fid_av* object, fi_addr_t address, void* raw, size_t* bytes) {
  AddressVector& av = AddressVector::of(object);
  const Destination* const found = av.find(address);
  if (!found) return -FI_EINVAL;
  const Address whole = av.domain().engine().address_of(*found);
  std::memcpy(raw, whole.raw.data(), std::min(*bytes, kAddressBytes));
  *bytes = kAddressBytes;
  return 0;
}

const char* address_text(fid_av*, const void* raw, char* text, size_t* bytes) {
  Address address;
  std::memcpy(address.raw.data(), raw, kAddressBytes);
  char whole[kAddressTextBytes];
  write_address_text(address, whole);
  if (text && *bytes > 0) {
    const std::size_t copied = std::min(*bytes - 1, std::strlen(whole));
    std::memcpy(text, whole, copied);
    text[copied] = '\0';
  }
  *bytes = std::strlen(whole) + 1;
  return text;
}

fi_ops vector_fid_ops = {
    sizeof(fi_ops), close_object<AddressVector>, bind_vector, nosys, nosys, nosys, nosys,
};
fi_ops_av vector_ops = {
    .size = sizeof(fi_ops_av),
    .insert = insert_addresses,
    .insertsvc = insert_service,
    .insertsym = nosys,
    .remove = remove_addresses,
    .lookup = look_up,
    .straddr = address_text,
    .av_set = nosys,
};

}  // namespace

AddressVector::AddressVector(Domain& domain, bool tells, void* context) noexcept
    : Object(FI_CLASS_AV, vector_fid_ops, context), domain_(domain), tells_(tells) {
  ops = &vector_ops;
  domain_.keep();
}

AddressVector::~AddressVector() {
  if (events_) events_->drop();
  domain_.drop();
}

void AddressVector::bind(EventQueue& events) noexcept {
  events.keep();
  events_ = &events;
}

int AddressVector::insert(const Address& raw, fi_addr_t& address) {
  Result<Address> wanted = is_service_address(raw) ? resolve_service(raw) : raw;
  if (!wanted) return -FI_ENODATA;
  const Result<Destination> destination = domain_.engine().peer(*wanted);
  if (!destination) return -errno_of(destination.error().code);

  const std::lock_guard hold(lock_);
  if (free_.empty() && next_ % kChunk == 0) {
    if (next_ / kChunk == kChunks) return -FI_ENOMEM;
    owned_.push_back(std::make_unique<Destination[]>(kChunk));
  }
  address = free_.empty() ? next_ : free_.front();
  owned_[address / kChunk][address % kChunk] = *destination;
  reverse_.emplace(std::pair{destination->peer, destination->port}, address);
  if (!free_.empty()) {
    std::pop_heap(free_.begin(), free_.end(), std::greater<>());
    free_.pop_back();
    return 0;
  }
  if (next_ % kChunk == 0) {
    chunks_[next_ / kChunk].store(owned_.back().get(), std::memory_order_release);
  }
  ++next_;
  return 0;
}

int AddressVector::remove(fi_addr_t address) noexcept {
  const std::lock_guard hold(lock_);
  const Destination* const found = find(address);
  if (!found) return -FI_EINVAL;
  const auto [first, last] = reverse_.equal_range({found->peer, found->port});
  const auto its =
      std::find_if(first, last, [&](const auto& each) { return each.second == address; });
  if (its != last) reverse_.erase(its);
  owned_[address / kChunk][address % kChunk] = {};
  return guarded([&] {
    free_.push_back(address);
    std::push_heap(free_.begin(), free_.end(), std::greater<>());
    return 0;
  });
}

fi_addr_t AddressVector::find_reverse(const Destination& destination) noexcept {
  const std::lock_guard hold(lock_);
  const auto found = reverse_.find({destination.peer, destination.port});
  return found == reverse_.end() ? FI_ADDR_NOTAVAIL : found->second;
}

int open_address_vector(fid_domain* domain, fi_av_attr* attr, fid_av** av, void* context) {
  if (!attr) return -FI_EINVAL;
  if (attr->name || attr->flags & ~static_cast<uint64_t>(FI_EVENT | FI_SYMMETRIC))
    return -FI_ENOSYS;  // shared vectors are not offered
  return guarded([&] {
    *av = new AddressVector(Domain::of(domain), (attr->flags & FI_EVENT) != 0, context);
    if (attr->type == FI_AV_UNSPEC) attr->type = FI_AV_MAP;
    return 0;
  });
}

}  // namespace livebtl::fi
