// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/checksum.h -- the CRC32C of a whole file. Used by btlctl's one thread; owns
// nothing.
#pragma once

#include <atomic>

#include "base/fd.h"
#include "livebtl/result.h"

namespace livebtl::hypervisor {

/// Reads it from beginning to end. Errors: kSystem: it cannot be read; kCancelled: `stop` (may be
/// nullptr) has become true.
Result<std::uint32_t> checksum_of(const Fd& file, const std::atomic<bool>* stop);

}  // namespace livebtl::hypervisor
