// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_provider.cc -- see ofi_provider.h.
#include "transports/ofi/ofi_provider.h"

#include <rdma/fi_endpoint.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>

#include "base/log.h"

namespace livebtl::ofi {
namespace {

/// A flag of fi_getinfo, internal to libfabric: includes providers that FI_PROVIDER hides. Ignored
/// where it is unknown.
constexpr std::uint64_t kHiddenToo = std::uint64_t{1} << 60;
constexpr std::string_view kOurs = "livebtl";
constexpr std::string_view kHooks = "ofi_hook";
constexpr const char* kShared = "FI_OFI_RXM_USE_SRX";

/// What we ask for, and what we offer in return.
Info hints(const Library& library, const std::string& name, std::uint64_t caps,
           const Wanted& wanted) {
  Info hints(library.dupinfo(nullptr), FreeInfo{&library});
  if (!hints) return hints;
  hints->caps = FI_MSG | caps;
  if (wanted.onesided) {
    hints->caps |= FI_ATOMIC;
    hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
  }
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  // We call only when the engine calls us; the provider should not start a thread.
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->mr_mode = wanted.memory_modes;
  if (!name.empty()) hints->fabric_attr->prov_name = ::strdup(name.c_str());  // freed with `hints`
  return hints;
}

bool contains(const fi_info& info, std::string_view part) noexcept {
  return std::string_view(info.fabric_attr->prov_name).find(part) != std::string_view::npos;
}

/// ofi_rxm, 1.17 to 2.6, hands what has just arrived back to a connection that it has closed, and
/// crashes, unless its connections share receive buffers: by kShared, or by default over tcp.
bool would_crash(std::string_view provider) {
  if (!provider.ends_with(";ofi_rxm")) return false;
  const char* const told = std::getenv(kShared);
  if (told == nullptr) return provider.find("tcp") == std::string_view::npos;
  const std::array<const char*, 4> yes{"1", "true", "yes", "on"};  // as libfabric reads it
  return std::none_of(yes.begin(), yes.end(),
                      [&](const char* each) { return ::strcasecmp(told, each) == 0; });
}

std::string would_not(const std::string& provider) {
  return "libfabric's " + provider + " crashes when a connection ends, unless " + kShared +
         "=1 is set for all processes of the job";
}

bool will_do(const fi_info& info, const std::string& name, std::size_t message_bytes) noexcept {
  if (contains(info, kOurs) || contains(info, kHooks)) return false;
  if (!name.empty() && name != info.fabric_attr->prov_name) return false;
  return info.ep_attr->max_msg_size >= message_bytes && (info.tx_attr->msg_order & FI_ORDER_SAS) &&
         (info.rx_attr->msg_order & FI_ORDER_SAS) && info.ep_attr->msg_prefix_size == 0;
}

std::string names(const fi_info* list) {
  std::set<std::string> seen;
  std::string text;
  for (; list != nullptr; list = list->next) {
    if (contains(*list, kOurs) || contains(*list, kHooks)) continue;
    if (!seen.insert(list->fabric_attr->prov_name).second) continue;
    text += (text.empty() ? "" : ", ") + std::string(list->fabric_attr->prov_name);
  }
  return text.empty() ? "none" : text;
}

/// caps: what to ask for. A provider may not mention what it was not asked for.
Result<Info> list_of(const Library& library, const std::string& name, std::uint64_t caps,
                     const Wanted& wanted) {
  const Info asked = hints(library, name, caps, wanted);
  if (!asked) return fail(Errc::kNoMemory, "ofi: no memory for libfabric's hints");
  fi_info* found = nullptr;
  const int code =
      library.getinfo(FI_VERSION(1, 17), nullptr, nullptr, kHiddenToo, asked.get(), &found);
  if (code == 0 || code == -FI_ENODATA) return Info(found, FreeInfo{&library});
  return fail(Errc::kSystem,
              std::string("ofi: libfabric finds no provider: ") + library.strerror(-code));
}

}  // namespace

bool leaves_the_node(const fi_info& info) noexcept { return (info.caps & FI_REMOTE_COMM) != 0; }

Result<Info> choose_provider(const Library& library, const std::string& name,
                             std::size_t message_bytes, const Wanted& wanted) {
  if (name.find(kOurs) != std::string::npos)
    return fail(Errc::kInvalid,
                "ofi: '" + name + "' is livebtl itself; name the provider beneath it");
  if (would_crash(name)) return fail(Errc::kUnsupported, "ofi: " + would_not(name));
  constexpr std::uint64_t kEverywhere = FI_LOCAL_COMM | FI_REMOTE_COMM;
  for (const std::uint64_t caps :
       std::array<std::uint64_t, 4>{FI_RMA | kEverywhere, kEverywhere, FI_RMA, 0}) {
    if ((caps & kEverywhere) == 0 && name.empty()) break;
    if ((caps & FI_RMA) == 0 && wanted.onesided) continue;
    const auto list = list_of(library, name, caps, wanted);
    if (!list) return tl::unexpected(list.error());
    for (const fi_info* each = list->get(); each != nullptr; each = each->next) {
      if (!will_do(*each, name, message_bytes)) continue;
      if (const std::string found = each->fabric_attr->prov_name; would_crash(found)) {
        log(LogLevel::kWarn, "ofi", "%s; looking for another provider", would_not(found).c_str());
        continue;
      }
      Info chosen(library.dupinfo(each), FreeInfo{&library});
      if (!chosen) return fail(Errc::kNoMemory, "ofi: no memory for what libfabric says");
      chosen->tx_attr->op_flags = 0;  // it can; each operation asks for what it needs
      return chosen;
    }
  }
  const auto all = list_of(library, "", 0, wanted);
  return fail(Errc::kNotFound,
              "ofi: libfabric has no provider " + (name.empty() ? "to other machines" : name) +
                  " with reliable datagrams in order" +
                  (wanted.onesided ? " and put, get and atomics" : "") + "; such providers here: " +
                  (all ? names(all->get()) : all.error().text) + " (fi_info -t FI_EP_RDM)");
}

}  // namespace livebtl::ofi
