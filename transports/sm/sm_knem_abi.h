// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_knem_abi.h -- version 13 of the binary interface of the driver of /dev/knem, as
// far as sm uses it. Pure.
//
// No distribution packages the driver's header, so the numbers are repeated here; sm_knem.cc first
// asks the driver which interface it has.
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

/// Pins the memory of the pieces, and gives it a name.
struct CreateRegion {
  std::uint64_t pieces = 0;  // the address of an array of Piece
  std::uint32_t piece_count = 0;
  std::uint32_t flags = 0;
  std::uint32_t protection = 0;  // PROT_READ: whoever names it may read it
  std::uint32_t reserved = 0;
  std::uint64_t cookie = 0;  // out
};

/// Copies between a region and the caller's memory, up to the end of the shorter.
struct InlineCopy {
  std::uint64_t pieces = 0;  // the address of an array of Piece: the caller's memory
  std::uint32_t piece_count = 0;
  std::uint32_t write = 0;  // 0: out of the region
  std::uint64_t cookie = 0;
  std::uint64_t offset = 0;  // in the region
  std::uint32_t flags = 0;
  std::uint32_t status = 0;  // out: a Status
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
