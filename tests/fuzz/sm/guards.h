// SPDX-License-Identifier: BSD-3-Clause
// tests/fuzz/sm/guards.h -- shared memory between guard pages: an access just outside a mapping
// faults, and addresses inside one can be recognised. mmap() and munmap() of the whole fuzzer go
// through here (the linker's --wrap). One thread.
#pragma once

#include <cstddef>

namespace livebtl::fuzz {

struct SharedMapping {
  const std::byte* base = nullptr;  // null: that address is private memory
  std::size_t bytes = 0;
};
/// The shared mapping that contains this address.
SharedMapping shared_mapping_at(const void* address) noexcept;

}  // namespace livebtl::fuzz
