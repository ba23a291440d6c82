// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_knem_abi.h -- what the driver of /dev/knem takes and gives: its binary interface 13, as far as
// sm uses it. Pure.
//
// The driver's header is no package of any distribution, so the numbers stand here; sm_knem.cc asks
// the driver which interface it has before anything else.
#pragma once

#include <sys/ioctl.h>

#include <cstdint>

namespace livebtl::sm::knem {

inline constexpr std::uint32_t kAbi = 13;

struct Info {
  std::uint32_t abi = 0;
  std::uint32_t features = 0;
  std::uint32_t ignored_flags = 0;
  std::uint32_t forced_flags = 0;
};

struct Piece {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// Pins what lies in the pieces, and gives it a name.
struct CreateRegion {
  std::uint64_t pieces = 0;  // the address of an array of Piece
  std::uint32_t piece_count = 0;
  std::uint32_t flags = 0;
  std::uint32_t protection = 0;  // PROT_READ: may be read by who names it
  std::uint32_t reserved = 0;
  std::uint64_t cookie = 0;  // out
};

/// Between a region and memory of the caller's, up to the end of the shorter one.
struct InlineCopy {
  std::uint64_t pieces = 0;  // the address of an array of Piece: of the caller's memory
  std::uint32_t piece_count = 0;
  std::uint32_t write = 0;  // 0: out of the region
  std::uint64_t cookie = 0;
  std::uint64_t offset = 0;  // in the region
  std::uint32_t flags = 0;
  std::uint32_t status = 0;  // out: of Status
  std::uint32_t status_index = 0;
  std::uint32_t reserved = 0;
};

enum Status : std::uint32_t { kPending, kSuccess, kFailed };

static_assert(sizeof(Info) == 16 && sizeof(Piece) == 16 && sizeof(CreateRegion) == 32 &&
              sizeof(InlineCopy) == 48);

inline constexpr unsigned long kGetInfo = _IOW('K', 0x10, Info);
inline constexpr unsigned long kCreateRegion = _IOWR('K', 0x21, CreateRegion);
inline constexpr unsigned long kDestroyRegion = _IOR('K', 0x22, std::uint64_t);  // a cookie
inline constexpr unsigned long kInlineCopy = _IOR('K', 0x33, InlineCopy);

}  // namespace livebtl::sm::knem
