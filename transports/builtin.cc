// SPDX-License-Identifier: BSD-3-Clause
// transports/builtin.cc -- see builtin.h. A new transport adds its include and its entry here.
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

Result<core::TransportKind> named(const std::string& name, const std::string& devices) {
  constexpr std::string_view kOfi = "ofi:", kVerbs = "verbs:";
  if (name.starts_with(kOfi) && name.size() > kOfi.size())
    return ofi::ofi_kind(name.substr(kOfi.size()));
  if (name.starts_with(kVerbs) && name.size() > kVerbs.size())
    return verbs::verbs_kind_named(name, devices);
  std::string known;
  for (core::TransportKind& kind : builtin()) {
    if (kind.name == name || kind.alias == name) return std::move(kind);
    known += " " + kind.name;
  }
  return fail(Errc::kInvalid, "no transport is called '" + name + "'; this build has:" + known +
                                  " ofi:PROVIDER verbs:DEVICE");
}

Result<std::vector<core::TransportKind>> all_named(const std::string& name,
                                                   const std::string& devices,
                                                   std::size_t kinds_max) {
  auto one = named(name, devices);
  if (!one) return tl::unexpected(one.error());
  if (one->name == verbs::verbs_kind().name) return verbs::verbs_kinds(devices, kinds_max);
  return std::vector{std::move(*one)};
}

}  // namespace livebtl::transports
