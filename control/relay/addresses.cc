// SPDX-License-Identifier: BSD-3-Clause
// control/relay/addresses.cc -- see addresses.h.
#include "control/relay/addresses.h"

#include <algorithm>

namespace livebtl::control {
namespace {

constexpr std::size_t kAddressesMax = 4;

}  // namespace

Result<std::vector<std::string>> relay_addresses(const std::vector<LocalAddress>& all,
                                                 const std::vector<std::string>& wanted) {
  const bool only_loopback =
      std::ranges::all_of(all, [](const LocalAddress& address) { return is_loopback(address.ip); });
  std::vector<std::string> chosen;
  for (const LocalAddress& address : all) {
    const bool named = std::ranges::any_of(
        wanted, [&](const std::string& name) { return names_address(name, address); });
    const bool by_default = wanted.empty() && (!is_loopback(address.ip) || only_loopback);
    if ((!named && !by_default) || chosen.size() == kAddressesMax) continue;
    chosen.push_back(is_v4(address.ip) ? to_text(address.ip) : "[" + to_text(address.ip) + "]");
  }
  if (!chosen.empty()) return chosen;
  if (all.empty()) return fail(Errc::kSystem, "no network interface is up");
  return tl::unexpected(choose_addresses(all, wanted).error());
}

}  // namespace livebtl::control
