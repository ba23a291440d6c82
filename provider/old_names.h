// SPDX-License-Identifier: BSD-3-Clause
// provider/old_names.h -- values whose names libfabric 2 has deprecated: its headers warn wherever
// one is used. Programs that were built with older headers still pass them. Pure values.
#pragma once

#include <cstdint>

namespace livebtl::fi {

// The values of mr_mode before it became a set of bits.
inline constexpr int kModeUnspecified = 0;
inline constexpr int kModeBasic = 1 << 0;     // FI_MR_BASIC
inline constexpr int kModeScalable = 1 << 1;  // FI_MR_SCALABLE

/// FI_REG_MR: the domain's event queue is to report registrations.
inline constexpr std::uint64_t kReportRegistrations = std::uint64_t{1} << 59;

}  // namespace livebtl::fi
