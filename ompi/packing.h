// SPDX-License-Identifier: BSD-3-Clause
// ompi/packing.h -- the elements that an MPI call names, as bytes: in place if they are contiguous,
// else packed by Open MPI's convertor.
//
// Threads: any. Ownership: nothing is kept; buffers are the caller's. Nothing is converted: all
// processes of a job have the same architecture, as livebtl's wire format requires.
#pragma once

#include <cstddef>

#include "ompi/compat.h"

namespace livebtl::ompi {

struct Elements {
  void* buffer = nullptr;
  std::size_t count = 0;
  ompi_datatype_t* datatype = nullptr;

  std::size_t bytes() const noexcept { return count * datatype->super.size; }
  bool straight() const noexcept { return lies_straight(*datatype, count); }
  /// Valid only if straight().
  std::byte* first() const noexcept {
    return static_cast<std::byte*>(buffer) + datatype->super.true_lb;
  }
};

/// The elements of a send; the buffer is only read.
inline Elements elements(const void* buffer, std::size_t count,
                         ompi_datatype_t* datatype) noexcept {
  return {const_cast<void*>(buffer), count, datatype};
}

/// `packed`: elements.bytes() long. false: the datatype cannot be packed.
bool pack(const Elements& elements, std::byte* packed) noexcept;
/// `bytes` may be less than elements.bytes().
bool unpack(const Elements& elements, const std::byte* packed, std::size_t bytes) noexcept;

}  // namespace livebtl::ompi
