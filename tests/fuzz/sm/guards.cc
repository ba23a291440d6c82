// SPDX-License-Identifier: BSD-3-Clause
// tests/fuzz/sm/guards.cc -- see guards.h.
#include "tests/fuzz/sm/guards.h"

#include <sys/mman.h>

#include <iterator>
#include <map>

// The names are the linker's.
extern "C" void* __real_mmap(void* address, std::size_t bytes, int protection, int flags, int fd,
                             off_t offset);
extern "C" int __real_munmap(void* address, std::size_t bytes);

namespace livebtl::fuzz {
namespace {

constexpr std::size_t kGuardBytes = 64u << 10;

std::map<const std::byte*, std::size_t>& shared_mappings() {
  static std::map<const std::byte*, std::size_t> mappings;
  return mappings;
}

}  // namespace

SharedMapping shared_mapping_at(const void* address) noexcept {
  const auto* const at = static_cast<const std::byte*>(address);
  const auto next = shared_mappings().upper_bound(at);
  if (next == shared_mappings().begin()) return {};
  const auto& [base, bytes] = *std::prev(next);
  if (at >= base + bytes) return {};
  return {base, bytes};
}

}  // namespace livebtl::fuzz

extern "C" void* __wrap_mmap(void* address, std::size_t bytes, int protection, int flags, int fd,
                             off_t offset) {
  using namespace livebtl::fuzz;
  if (fd < 0 || (flags & MAP_SHARED) == 0 || address != nullptr)
    return __real_mmap(address, bytes, protection, flags, fd, offset);
  void* const reserved =
      __real_mmap(nullptr, bytes + 2 * kGuardBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) return reserved;
  void* const place = static_cast<std::byte*>(reserved) + kGuardBytes;
  void* const base = __real_mmap(place, bytes, protection, flags | MAP_FIXED, fd, offset);
  if (base == MAP_FAILED) {
    __real_munmap(reserved, bytes + 2 * kGuardBytes);
    return base;
  }
  shared_mappings()[static_cast<const std::byte*>(base)] = bytes;
  return base;
}

extern "C" int __wrap_munmap(void* address, std::size_t bytes) {
  using namespace livebtl::fuzz;
  const auto found = shared_mappings().find(static_cast<const std::byte*>(address));
  if (found == shared_mappings().end()) return __real_munmap(address, bytes);
  shared_mappings().erase(found);
  return __real_munmap(static_cast<std::byte*>(address) - kGuardBytes, bytes + 2 * kGuardBytes);
}
