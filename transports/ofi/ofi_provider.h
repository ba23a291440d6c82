// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_provider.h -- the choice of libfabric provider: the one that is named, or the
// first that can carry messages between machines. Never our own.
#pragma once

#include <rdma/fi_domain.h>

#include <string>

#include "transports/ofi/ofi_library.h"

namespace livebtl::ofi {

/// The memory registration modes that a provider may require of us.
inline constexpr int kMemoryModes =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;

/// What is asked of a provider besides ordered messages, and reads of a peer's memory if it has
/// them.
struct Wanted {
  // put, get and atomics that complete only when they are visible at the target
  bool onesided = false;
  int memory_modes = kMemoryModes;  // of which it may require some
};

/// name: as fi_info shows it ("tcp;ofi_rxm", "shm", "verbs;ofi_rxm"); "": the first that will do.
/// message_bytes: must fit into one message. Providers that FI_PROVIDER hides from the program are
/// found. Errors: kInvalid (our own), kNotFound (says what is there), kUnsupported (it crashes
/// without a libfabric setting that is not set), kNoMemory, kSystem.
Result<Info> choose_provider(const Library& library, const std::string& name,
                             std::size_t message_bytes, const Wanted& wanted = {});

/// Can it carry messages to other machines?
bool leaves_the_node(const fi_info& info) noexcept;

}  // namespace livebtl::ofi
