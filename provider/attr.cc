// SPDX-License-Identifier: BSD-3-Clause
// provider/attr.cc -- see attr.h.
#include "provider/attr.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "provider/old_names.h"
#include "provider/provider.h"

namespace livebtl::fi {
namespace {

// Bits of fi_getinfo's tag format: every bit of the tag can be matched. Not in libfabric's headers.
constexpr std::uint64_t kTagFormat = 0xAAAAAAAAAAAAAAAAULL;
constexpr std::uint64_t kTransmitCaps = kPrimaryCaps | FI_SEND | FI_READ | FI_WRITE;
constexpr std::uint64_t kReceiveCaps =
    kPrimaryCaps | FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE | kOtherCaps;
constexpr std::uint64_t kTransmitOpFlags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE |
                                           FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE |
                                           FI_MATCH_COMPLETE;
constexpr std::uint64_t kReceiveOpFlags = FI_COMPLETION | FI_MULTI_RECV;
constexpr std::uint64_t kNaturalOrder = FI_ORDER_SAS | FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW |
                                        FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW;

/// Primary capabilities imply their directions, unless the program named some of these.
std::uint64_t with_directions(std::uint64_t caps) noexcept {
  constexpr std::uint64_t kOfMessages = FI_SEND | FI_RECV;
  constexpr std::uint64_t kOneSided = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  if (caps & (FI_MSG | FI_TAGGED) && !(caps & kOfMessages)) caps |= kOfMessages;
  if (caps & (FI_RMA | FI_ATOMIC) && !(caps & kOneSided)) caps |= kOneSided;
  return caps | kDomainCaps;
}

std::uint64_t orders_for(const fi_info* hints) noexcept {
  std::uint64_t order = kNaturalOrder;
  if (hints && hints->tx_attr) order |= hints->tx_attr->msg_order;
  if (hints && hints->rx_attr) order |= hints->rx_attr->msg_order;
  return order;
}

/// Up to which size one-sided operations stay in order: any, if they go one at a time; else the
/// ordered lane keeps only atomics in order, whose size is bounded.
std::size_t ordered_bytes(std::uint64_t order) noexcept {
  return order & kOneSidedOrders ? kMessageBytesMax : kAtomicBytesMax;
}

bool satisfies_order(const fi_info& hints) noexcept {
  const std::size_t offered = ordered_bytes(orders_for(&hints));
  return !hints.ep_attr || (hints.ep_attr->max_order_raw_size <= offered &&
                            hints.ep_attr->max_order_war_size <= offered &&
                            hints.ep_attr->max_order_waw_size <= offered);
}

bool within(std::uint64_t asked, std::uint64_t offered) noexcept { return !(asked & ~offered); }

bool named(const char* asked, const char* ours) noexcept {
  return !asked || std::strcmp(asked, ours) == 0;
}

bool satisfies_transmit(const fi_tx_attr* asked) noexcept {
  return !asked ||
         (within(asked->caps, kAllCaps) && within(asked->op_flags, kTransmitOpFlags) &&
          within(asked->msg_order, kNaturalOrder | kOneSidedOrders) && asked->comp_order == 0 &&
          asked->inject_size <= kInjectBytes && asked->size <= kTransmitsMax &&
          asked->iov_limit <= kIovMax && asked->rma_iov_limit <= 1);
}

bool satisfies_receive(const fi_rx_attr* asked) noexcept {
  return !asked || (within(asked->caps, kAllCaps) && within(asked->op_flags, kReceiveOpFlags) &&
                    within(asked->msg_order, kNaturalOrder | kOneSidedOrders) &&
                    asked->comp_order == 0 && asked->size <= kReceivesMax &&
                    asked->total_buffered_recv == 0 && asked->iov_limit <= kIovMax);
}

bool satisfies_endpoint(const fi_ep_attr* asked) noexcept {
  if (!asked) return true;
  const bool one_context = asked->tx_ctx_cnt <= 1 && asked->rx_ctx_cnt <= 1;
  const bool type = asked->type == FI_EP_UNSPEC || asked->type == FI_EP_RDM;
  return type && one_context && asked->protocol == FI_PROTO_UNSPEC &&
         asked->max_msg_size <= kMessageBytesMax && asked->msg_prefix_size == 0 &&
         asked->auth_key_size == 0;
}

bool satisfies_mr_mode(int asked, std::uint32_t api_version) noexcept {
  if (api_version >= FI_VERSION(1, 5)) return true;  // we return only bits that we need
  return asked == kModeUnspecified || asked == kModeBasic || asked == kModeScalable;
}

bool satisfies_domain(const fi_domain_attr* asked, std::uint32_t api_version) noexcept {
  return !asked || (named(asked->name, kDomainName) && within(asked->caps, kDomainCaps) &&
                    asked->cq_data_size <= sizeof(std::uint64_t) &&
                    asked->mr_key_size <= sizeof(std::uint64_t) && asked->mr_iov_limit <= 1 &&
                    asked->max_ep_tx_ctx <= 1 && asked->max_ep_rx_ctx <= 1 &&
                    asked->max_ep_stx_ctx == 0 && asked->max_ep_srx_ctx == 0 &&
                    asked->auth_key_size == 0 && satisfies_mr_mode(asked->mr_mode, api_version));
}

bool satisfies(const fi_info& hints, std::uint32_t api_version) noexcept {
  return within(hints.caps, kAllCaps) && hints.addr_format == FI_FORMAT_UNSPEC &&
         (!hints.fabric_attr || named(hints.fabric_attr->name, kFabricName)) &&
         satisfies_endpoint(hints.ep_attr) && satisfies_order(hints) &&
         satisfies_domain(hints.domain_attr, api_version) && satisfies_transmit(hints.tx_attr) &&
         satisfies_receive(hints.rx_attr);
}

void fill_transfer(fi_info& info, const fi_info* hints) noexcept {
  const std::uint64_t order = orders_for(hints);
  fi_tx_attr& tx = *info.tx_attr;
  tx.caps = info.caps & kTransmitCaps;
  tx.op_flags = hints && hints->tx_attr ? hints->tx_attr->op_flags : 0;
  tx.msg_order = order;
  tx.inject_size = kInjectBytes;
  tx.size = kTransmitsMax;
  tx.iov_limit = kIovMax;
  tx.rma_iov_limit = 1;
  fi_rx_attr& rx = *info.rx_attr;
  rx.caps = info.caps & kReceiveCaps;
  rx.op_flags = hints && hints->rx_attr ? hints->rx_attr->op_flags : 0;
  rx.msg_order = order;
  rx.size = std::max(kTransmitsMax, hints && hints->rx_attr ? hints->rx_attr->size : 0);
  rx.iov_limit = kIovMax;
  fi_ep_attr& ep = *info.ep_attr;
  ep.type = FI_EP_RDM;
  ep.protocol = FI_PROTO_UNSPEC;
  ep.protocol_version = 1;
  ep.max_msg_size = kMessageBytesMax;
  ep.max_order_raw_size = ordered_bytes(order);
  ep.max_order_war_size = ep.max_order_raw_size;
  ep.max_order_waw_size = ep.max_order_raw_size;
  ep.mem_tag_format = kTagFormat;
  ep.tx_ctx_cnt = 1;
  ep.rx_ctx_cnt = 1;
}

/// The mode bits are demands on the program, and we make none: offsets and its own keys will do.
int mr_mode_for(const fi_domain_attr* asked, std::uint32_t api_version) noexcept {
  const int mode = asked ? asked->mr_mode : kModeUnspecified;
  if (mode == kModeBasic || mode == kModeScalable) return mode;
  return api_version < FI_VERSION(1, 5) ? kModeScalable : 0;
}

/// For the info only. Whatever was asked for, the agent moves an engine that nobody calls;
/// one-sided operations rely on that, since their target is computing.
fi_progress data_progress_for(const fi_domain_attr* asked, std::uint64_t caps) noexcept {
  if (asked && asked->data_progress != FI_PROGRESS_UNSPEC) return asked->data_progress;
  return caps & (FI_RMA | FI_ATOMIC) ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
}

void fill_domain(fi_info& info, const fi_domain_attr* asked, std::uint32_t api_version) noexcept {
  fi_domain_attr& domain = *info.domain_attr;
  const auto pick = [](auto wish, auto fallback) {
    return static_cast<int>(wish) != 0 ? wish : fallback;
  };
  const fi_domain_attr wish = asked ? *asked : fi_domain_attr{};
  domain.threading = pick(wish.threading, FI_THREAD_SAFE);
  domain.control_progress = pick(wish.control_progress, FI_PROGRESS_AUTO);
  domain.data_progress = data_progress_for(asked, info.caps);
  domain.resource_mgmt = pick(wish.resource_mgmt, FI_RM_ENABLED);
  domain.av_type = wish.av_type;
  domain.mr_mode = mr_mode_for(asked, api_version);
  domain.mr_key_size = sizeof(std::uint64_t);
  domain.cq_data_size = sizeof(std::uint64_t);
  domain.cq_cnt = 65536;
  domain.ep_cnt = 32768;
  domain.tx_ctx_cnt = domain.ep_cnt;
  domain.rx_ctx_cnt = domain.ep_cnt;
  domain.max_ep_tx_ctx = 1;
  domain.max_ep_rx_ctx = 1;
  domain.cntr_cnt = 65536;
  domain.mr_iov_limit = 1;
  domain.caps = kDomainCaps;
  domain.mr_cnt = 65536;
}

}  // namespace

fi_info* info_for(const fi_info* hints, std::uint32_t api_version, int& error) noexcept {
  error = -FI_ENODATA;
  if (hints && !satisfies(*hints, api_version)) return nullptr;
  error = -FI_ENOMEM;
  fi_info* const info = fi_allocinfo();
  if (!info) return nullptr;
  info->caps = hints && hints->caps ? with_directions(hints->caps) : kAllCaps;
  info->addr_format = FI_FORMAT_UNSPEC;
  fill_transfer(*info, hints);
  fill_domain(*info, hints ? hints->domain_attr : nullptr, api_version);
  info->domain_attr->name = ::strdup(kDomainName);
  info->fabric_attr->name = ::strdup(kFabricName);
  info->fabric_attr->prov_version = FI_VERSION(0, 1);
  info->fabric_attr->api_version = api_version;
  if (!info->domain_attr->name || !info->fabric_attr->name) {
    fi_freeinfo(info);
    return nullptr;
  }
  error = 0;
  return info;
}

DomainChoices choices_of(const fi_info& info) noexcept {
  const fi_domain_attr& domain = *info.domain_attr;
  const bool basic = domain.mr_mode == kModeBasic;
  DomainChoices choices;
  choices.several_threads = domain.threading != FI_THREAD_DOMAIN;
  choices.virtual_addressing =
      basic || (domain.mr_mode > kModeScalable && domain.mr_mode & FI_MR_VIRT_ADDR);
  choices.made_keys = basic || (domain.mr_mode > kModeScalable && domain.mr_mode & FI_MR_PROV_KEY);
  return choices;
}

}  // namespace livebtl::fi
