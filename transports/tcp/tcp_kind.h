// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_kind.h -- how a tcp transport is made; for transports/builtin.cc.
#pragma once

#include "transports/interface/node_facts.h"

namespace livebtl::tcp {

core::TransportKind tcp_kind();

}  // namespace livebtl::tcp
