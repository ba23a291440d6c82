// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_provider.h -- which of libfabric's providers lies beneath: the one that is
// named, or the first that can carry messages between machines. Never our own.
#pragma once

#include <string>

#include "transports/ofi/ofi_library.h"

namespace livebtl::ofi {

/// name: as fi_info shows it ("tcp;ofi_rxm", "shm", "verbs;ofi_rxm"); "": the first that will do.
/// message_bytes: what it has to take in one message. Providers that FI_PROVIDER hides from the
/// program are seen. Errors: kInvalid (our own), kNotFound (says what is there), kSystem.
Result<Info> choose_provider(const Library& library, const std::string& name,
                             std::size_t message_bytes);

/// Can it carry messages to other machines?
bool leaves_the_node(const fi_info& info) noexcept;

}  // namespace livebtl::ofi
