// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_kind.h -- how an ofi transport is made; for transports/builtin.cc.
#pragma once

#include "core/node_facts.h"

namespace livebtl::ofi {

core::TransportKind ofi_kind();

}  // namespace livebtl::ofi
