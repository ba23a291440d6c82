// SPDX-License-Identifier: BSD-3-Clause
// What fi_getinfo returns: one info that satisfies the request, or FI_ENODATA.
#include <doctest/doctest.h>

#include <string>

#include "pair.h"
#include "provider/old_names.h"

using namespace livebtl;
using namespace livebtl::fake;

TEST_CASE("without hints everything is offered, in one info with the names Open MPI looks at") {
  Info info;
  REQUIRE(ask(nullptr, info) == 0);
  CHECK(info->next == nullptr);
  const std::uint64_t wanted = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_MULTI_RECV |
                               FI_DIRECTED_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM;
  CHECK((info->caps & wanted) == wanted);
  CHECK(std::string(info->fabric_attr->name) == "livebtl");
  CHECK(std::string(info->domain_attr->name) == "livebtl0");
  CHECK(info->fabric_attr->prov_name == nullptr);
  CHECK(info->domain_attr->mr_mode == 0);
  CHECK(info->domain_attr->max_ep_tx_ctx == 1);
  CHECK(info->ep_attr->max_msg_size >= (std::size_t{1} << 40));
  CHECK(info->src_addrlen == 64);
}

TEST_CASE("the request of Open MPI's message layer is echoed") {
  Info hints(fi_allocinfo());
  hints->caps = FI_TAGGED | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_DIRECTED_RECV;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->tx_attr->op_flags = FI_COMPLETION;
  hints->rx_attr->op_flags = FI_COMPLETION;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->av_type = FI_AV_MAP;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->cq_data_size = 4;
  Info info;
  REQUIRE(ask(hints.get(), info, nullptr, nullptr, 0, FI_VERSION(1, 5)) == 0);
  CHECK((info->caps & FI_DIRECTED_RECV) != 0);
  CHECK((info->caps & (FI_MSG | FI_RMA)) == 0);
  CHECK(info->domain_attr->threading == FI_THREAD_DOMAIN);
  CHECK(info->domain_attr->cq_data_size >= 4);
  CHECK(info->domain_attr->data_progress == FI_PROGRESS_MANUAL);
  CHECK((info->tx_attr->op_flags & FI_COMPLETION) != 0);
  CHECK((info->ep_attr->mem_tag_format >> 63) == 1);
}

TEST_CASE(
    "one-sided capabilities bring automatic progress and the memory mode that was asked for") {
  Info hints(fi_allocinfo());
  hints->caps = FI_RMA | FI_ATOMIC;
  hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_LOCAL;
  Info info;
  REQUIRE(ask(hints.get(), info) == 0);
  CHECK(info->domain_attr->data_progress == FI_PROGRESS_AUTO);
  CHECK(info->domain_attr->mr_mode == 0);
  hints->domain_attr->mr_mode = fi::kModeBasic;
  REQUIRE(ask(hints.get(), info) == 0);
  CHECK(info->domain_attr->mr_mode == fi::kModeBasic);
}

TEST_CASE("what cannot be had is FI_ENODATA") {
  Info info;
  const auto refused = [&](const std::function<void(fi_info&)>& wish) {
    Info hints(fi_allocinfo());
    wish(*hints);
    return ask(hints.get(), info) == -FI_ENODATA;
  };
  CHECK(refused([](fi_info& h) { h.ep_attr->type = FI_EP_MSG; }));
  CHECK(refused([](fi_info& h) { h.ep_attr->type = FI_EP_DGRAM; }));
  CHECK(refused([](fi_info& h) { h.caps = FI_HMEM; }));
  CHECK(refused([](fi_info& h) { h.domain_attr->name = ::strdup("other"); }));
  CHECK(refused([](fi_info& h) { h.tx_attr->inject_size = 1 << 20; }));
  CHECK(refused([](fi_info& h) { h.tx_attr->msg_order = FI_ORDER_SAW; }));
  CHECK(refused([](fi_info& h) { h.domain_attr->caps = FI_SHARED_AV; }));
  CHECK(refused([](fi_info& h) { h.ep_attr->rx_ctx_cnt = 2; }));
  CHECK(refused([](fi_info& h) { h.addr_format = FI_SOCKADDR_IN; }));
  CHECK(refused([](fi_info& h) { h.ep_attr->max_order_raw_size = 1 << 20; }));
}

TEST_CASE(
    "atomics are in order up to their largest size; all that is one-sided if that is asked for") {
  Info hints(fi_allocinfo());
  hints->caps = FI_ATOMIC | FI_RMA;
  hints->tx_attr->msg_order = FI_ORDER_ATOMIC_WAW;
  hints->ep_attr->max_order_waw_size = 8;
  Info info;
  REQUIRE(ask(hints.get(), info) == 0);
  CHECK(info->ep_attr->max_order_waw_size == kAtomicBytesMax);
  hints->tx_attr->msg_order = FI_ORDER_RMA_WAW;
  hints->ep_attr->max_order_waw_size = 1 << 20;
  REQUIRE(ask(hints.get(), info) == 0);
  CHECK(info->ep_attr->max_order_waw_size >= 1 << 20);
}

TEST_CASE("a capability brings its directions, whatever directions others were asked for with") {
  Info hints(fi_allocinfo());
  hints->caps = FI_TAGGED | FI_RMA | FI_WRITE | FI_REMOTE_WRITE;
  Info info;
  REQUIRE(ask(hints.get(), info) == 0);
  CHECK((info->caps & (FI_SEND | FI_RECV)) == (FI_SEND | FI_RECV));
  CHECK((info->caps & (FI_READ | FI_REMOTE_READ)) == 0);
}

TEST_CASE("a utility provider that looks for something to stack upon gets nothing") {
  Info hints(fi_allocinfo());
  hints->ep_attr->type = FI_EP_MSG;
  Info info;
  CHECK(ask(hints.get(), info, nullptr, nullptr, 1ULL << 59) == -FI_ENODATA);
}

TEST_CASE("node and service become addresses of their own; a foreign node is FI_ENODATA") {
  Info info;
  REQUIRE(ask(nullptr, info, "127.0.0.1", "9228", 0) == 0);
  CHECK(info->dest_addrlen == 64);
  REQUIRE(ask(nullptr, info, nullptr, "9228", FI_SOURCE) == 0);
  CHECK(info->dest_addr == nullptr);
  CHECK(info->src_addrlen == 64);
  CHECK(ask(nullptr, info, "g00n13s", "9228", 0) == -FI_ENODATA);
  CHECK(ask(nullptr, info, "192.0.2.1", "9228", 0) == -FI_ENODATA);
  CHECK(ask(nullptr, info, "127.0.0.1", "../etc", 0) == -FI_ENODATA);
}
