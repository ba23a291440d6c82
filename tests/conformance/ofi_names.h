// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/ofi_names.h -- libfabric providers whose names differ between its versions.
// Pure values.
#pragma once

#include <rdma/fabric.h>

namespace livebtl::conformance {

/// Reliable datagrams over TCP without a layer in between: a provider of its own in libfabric 1.17,
/// part of tcp since 2.0.
inline constexpr bool kHasNet = FI_MAJOR_VERSION < 2;
inline constexpr const char* kNet = kHasNet ? "net" : "tcp";
inline constexpr const char* kNetBelowRxm = kHasNet ? "net;ofi_rxm" : "tcp;ofi_rxm";

}  // namespace livebtl::conformance
