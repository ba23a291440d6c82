// SPDX-License-Identifier: BSD-3-Clause
// provider/getinfo.cc -- fi_getinfo: the info, and the addresses in it (see fabric.h).
#include <cstdlib>
#include <cstring>

#include "provider/attr.h"
#include "provider/fabric.h"
#include "provider/named.h"
#include "provider/provider.h"
#include "provider/service.h"

namespace livebtl::fi {
namespace {

int set_address(void*& slot, std::size_t& bytes, const void* raw) noexcept {
  slot = std::malloc(kAddressBytes);
  if (!slot) return -FI_ENOMEM;
  std::memcpy(slot, raw, kAddressBytes);
  bytes = kAddressBytes;
  return 0;
}

int set_named(void*& slot, std::size_t& bytes, const char* node, const char* service) {
  const Result<Address> address = service_address(node, service);
  if (!address) return -FI_ENODATA;
  return set_address(slot, bytes, address->raw.data());
}

int set_source(fi_info& info, const char* node, const char* service, std::uint64_t flags,
               const fi_info* hints) {
  if (flags & FI_SOURCE) return set_named(info.src_addr, info.src_addrlen, node, service);
  if (hints && hints->src_addr && hints->src_addrlen == kAddressBytes) {
    return set_address(info.src_addr, info.src_addrlen, hints->src_addr);
  }
  return set_named(info.src_addr, info.src_addrlen, nullptr, nullptr);
}

int set_destination(fi_info& info, const char* node, const char* service, std::uint64_t flags,
                    const fi_info* hints) {
  const bool by_name = (node || service) && !(flags & FI_SOURCE);
  if (by_name) return set_named(info.dest_addr, info.dest_addrlen, node, service);
  if (hints && hints->dest_addr && hints->dest_addrlen == kAddressBytes) {
    return set_address(info.dest_addr, info.dest_addrlen, hints->dest_addr);
  }
  return 0;
}

}  // namespace

int get_info(std::uint32_t api_version, const char* node, const char* service, std::uint64_t flags,
             const fi_info* hints, fi_info** info) {
  return guarded([&] {
    if (!is_named(hints, ::getenv, open_mpi_parameter)) return -FI_ENODATA;
    int error = 0;
    fi_info* const made = info_for(hints, api_version, error);
    if (!made) return error;
    error = set_source(*made, node, service, flags, hints);
    if (!error) error = set_destination(*made, node, service, flags, hints);
    if (error) {
      fi_freeinfo(made);
      return error;
    }
    *info = made;
    return 0;
  });
}

}  // namespace livebtl::fi
