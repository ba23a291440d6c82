// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_kind.h -- how a verbs transport is made; for transports/builtin.cc.
#pragma once

#include "transports/interface/node_facts.h"

namespace livebtl::verbs {

core::TransportKind verbs_kind();

}  // namespace livebtl::verbs
