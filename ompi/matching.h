// SPDX-License-Identifier: BSD-3-Clause
// ompi/matching.h -- how MPI's communicator, rank and tag map to what the engine matches by.
//
//   Tag   | 12 bits 0 | 20 bits context of the communicator | 32 bits MPI tag |
//   data  the sender's rank in the communicator, sent with the message
//   from  the sender, if the receive names one
//
// The sender is matched as a process and not as a number in the tag, so that a receive from a dead
// process ends. Open MPI's own tags are negative; MPI_ANY_TAG must not match them, so it leaves the
// sign bit significant. Pure.
#pragma once

#include <cstdint>

#include "livebtl/port.h"

namespace livebtl::ompi {

inline constexpr unsigned kContextBits = 20;
inline constexpr unsigned kTagBits = 32;
inline constexpr std::uint32_t kContextMax = (1u << kContextBits) - 1;
inline constexpr Tag kAnyUserTag = 0x7fffffff;                  // bits to ignore
inline constexpr Tag kWholeContext = (Tag{1} << kTagBits) - 1;  // bits to ignore

constexpr Tag tag_of(std::uint32_t context, int tag) noexcept {
  return Tag{context} << kTagBits | static_cast<std::uint32_t>(tag);
}
constexpr int mpi_tag_of(Tag tag) noexcept {
  return static_cast<int>(static_cast<std::uint32_t>(tag));
}
constexpr int rank_of(std::uint64_t data) noexcept { return static_cast<int>(data); }

}  // namespace livebtl::ompi
