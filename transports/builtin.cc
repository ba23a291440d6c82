// SPDX-License-Identifier: BSD-3-Clause
// transports/builtin.cc -- see builtin.h. A new transport adds its include and its line here.
#include "transports/builtin.h"

#include "transports/ofi/ofi_kind.h"
#include "transports/self/self_transport.h"
#include "transports/sm/sm_transport.h"
#include "transports/tcp/tcp_kind.h"
#include "transports/verbs/verbs_kind.h"

namespace livebtl::transports {

std::vector<core::TransportKind> builtin() {
  return {self::self_kind(), sm::sm_kind(), tcp::tcp_kind(), verbs::verbs_kind(), ofi::ofi_kind()};
}

}  // namespace livebtl::transports
