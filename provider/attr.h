// SPDX-License-Identifier: BSD-3-Clause
// provider/attr.h -- what we offer, and whether it satisfies what a program asks for. Pure.
#pragma once

#include <rdma/fabric.h>

#include <cstdint>

#include "provider/domain.h"

namespace livebtl::fi {

/// All capabilities that a program may ask for.
inline constexpr std::uint64_t kPrimaryCaps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
inline constexpr std::uint64_t kDirectionCaps =
    FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
inline constexpr std::uint64_t kDomainCaps = FI_LOCAL_COMM | FI_REMOTE_COMM;
inline constexpr std::uint64_t kOtherCaps =
    FI_MULTI_RECV | FI_DIRECTED_RECV | FI_SOURCE | FI_RMA_EVENT;
/// Orders of one-sided operations, which hold only if these go one at a time. The ordered lane
/// keeps those of messages, and of atomics among themselves.
inline constexpr std::uint64_t kOneSidedOrders =
    FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAR | FI_ORDER_WAW | FI_ORDER_RMA_RAR |
    FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAR | FI_ORDER_RMA_WAW;
inline constexpr std::uint64_t kAllCaps = kPrimaryCaps | kDirectionCaps | kDomainCaps | kOtherCaps;

/// The one info that answers `hints` (null: everything we offer), without addresses; the caller
/// frees it. Null: `error` is the reason, -FI_ENODATA (cannot be satisfied) or -FI_ENOMEM.
fi_info* info_for(const fi_info* hints, std::uint32_t api_version, int& error) noexcept;

/// What a domain that is opened with `info` must do.
DomainChoices choices_of(const fi_info& info) noexcept;

}  // namespace livebtl::fi
