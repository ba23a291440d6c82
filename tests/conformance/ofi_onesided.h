// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/ofi_onesided.h -- what direct users of transports/ofi may rely on: put, get and
// atomics of a libfabric provider.
#pragma once

#include <cstdint>
#include <string>

namespace livebtl::conformance {

/// What the libfabric provider of that name can do.
struct OneSidedProvider {
  std::string name;
  bool atomics = true;
  std::uint32_t fetches_at_once = 64;
  bool refuses = true;  // accesses that the owner of memory has not allowed
};

/// Runs all behaviours as SUBCASEs of the calling TEST_CASE.
void run_onesided(const OneSidedProvider& provider);

// ofi_onesided_modes.cc
/// Every way of registering memory that a provider may ask for, as far as the provider takes it.
void memory_modes(const OneSidedProvider& provider);
/// Every one, whatever the provider itself would ask for: it must ask for none, and expose.
void demanded_memory_modes(const OneSidedProvider& provider);
/// A provider that asks for what we do not do is not chosen.
void other_memory_modes(const OneSidedProvider& provider);

// ofi_onesided_refusals.cc
void refusals(const std::string& provider);
void rights(const OneSidedProvider& provider);
void no_rights(const std::string& provider);

}  // namespace livebtl::conformance
