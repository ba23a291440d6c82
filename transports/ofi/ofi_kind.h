// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_kind.h -- how an ofi transport is made; for transports/builtin.cc.
#pragma once

#include "transports/interface/node_facts.h"

namespace livebtl::ofi {

/// "ofi", over the provider that the settings name.
core::TransportKind ofi_kind();
/// "ofi:PROVIDER": there may be several at once.
core::TransportKind ofi_kind(const std::string& provider);

}  // namespace livebtl::ofi
