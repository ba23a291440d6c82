// SPDX-License-Identifier: BSD-3-Clause
// base/crc32c.h -- CRC32C (Castagnoli, RFC 3720 appendix B.4) by ISA-L, which picks the CPU's best
// instructions.
#pragma once

#include <cstdint>

#include "livebtl/types.h"

namespace livebtl {

/// To checksum in pieces, pass the previous result; start with 0. "123456789" gives 0xE3069283.
std::uint32_t crc32c(Bytes bytes, std::uint32_t so_far = 0) noexcept;

}  // namespace livebtl
