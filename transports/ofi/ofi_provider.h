// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_provider.h -- which of libfabric's providers lies beneath: the one that is
// named, or the first that can carry messages between machines. Never our own.
#pragma once

#include <rdma/fi_domain.h>

#include <string>

#include "transports/ofi/ofi_library.h"

namespace livebtl::ofi {

/// What a provider may ask of those who register memory with it, and we do.
inline constexpr int kMemoryModes =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;

/// What is asked of a provider, beside messages in order, and reads of a peer's memory if it has
/// them.
struct Wanted {
  // put, get and atomics, which say that they are done when they are to be seen at the target
  bool onesided = false;
  int memory_modes = kMemoryModes;  // of which it may ask for some
};

/// name: as fi_info shows it ("tcp;ofi_rxm", "shm", "verbs;ofi_rxm"); "": the first that will do.
/// message_bytes: what it has to take in one message. Providers that FI_PROVIDER hides from the
/// program are seen. Errors: kInvalid (our own), kNotFound (says what is there), kUnsupported (it
/// lacks a setting of libfabric's without which it crashes), kSystem.
Result<Info> choose_provider(const Library& library, const std::string& name,
                             std::size_t message_bytes, const Wanted& wanted = {});

/// Can it carry messages to other machines?
bool leaves_the_node(const fi_info& info) noexcept;

}  // namespace livebtl::ofi
