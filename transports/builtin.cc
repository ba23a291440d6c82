// SPDX-License-Identifier: BSD-3-Clause
// transports/builtin.cc -- see builtin.h. A new transport adds its include and its line here.
#include "transports/builtin.h"

#include "transports/ofi/ofi_transport.h"
#include "transports/self/self_transport.h"
#include "transports/sm/sm_transport.h"
#include "transports/tcp/tcp_transport.h"
#include "transports/verbs/verbs_transport.h"

namespace livebtl::transports {

std::vector<core::TransportKind> builtin() {
  return {self::self_kind(), sm::sm_kind(), tcp::tcp_kind(), verbs::verbs_kind(), ofi::ofi_kind()};
}

Result<core::TransportKind> named(const std::string& name) {
  constexpr std::string_view kOfi = "ofi:";
  if (name.starts_with(kOfi) && name.size() > kOfi.size())
    return ofi::ofi_kind(name.substr(kOfi.size()));
  std::string known;
  for (core::TransportKind& kind : builtin()) {
    if (kind.name == name || kind.alias == name) return std::move(kind);
    known += " " + kind.name;
  }
  return fail(Errc::kInvalid,
              "no transport is called '" + name + "'; this build has:" + known + " ofi:PROVIDER");
}

}  // namespace livebtl::transports
