// SPDX-License-Identifier: BSD-3-Clause
// transports/messages/rdma_devices.h -- the files of RDMA devices, and who else in a process may
// have them open. For the kinds of transports that hold such devices.
#pragma once

#include "transports/interface/node_facts.h"

namespace livebtl::messages {

inline core::DeviceFiles rdma_devices() {
  return {"/dev/infiniband/uverbs",
          {{"mca_btl_openib", "Open MPI's btl openib (--mca btl ^openib)"},
           {"libuct_ib", "UCX (UCX_TLS=^ib)"},
           {"librdmacm", "librdmacm, as libfabric's verbs provider does (LIVEBTL_HIDE_DEVICES)"}}};
}

}  // namespace livebtl::messages
