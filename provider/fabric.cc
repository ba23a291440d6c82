// SPDX-License-Identifier: BSD-3-Clause
// provider/fabric.cc -- see fabric.h.
#include "provider/fabric.h"

#include <cstring>

#include "provider/domain.h"
#include "provider/eq.h"
#include "provider/provider.h"
#include "provider/wait.h"

namespace livebtl::fi {
namespace {

fi_ops fabric_fid_ops = {sizeof(fi_ops), close_object<Fabric>, nosys, nosys, nosys, nosys, nosys};
fi_ops_fabric fabric_ops = {
    .size = sizeof(fi_ops_fabric),
    .domain = open_domain,
    .passive_ep = nosys,
    .eq_open = open_event_queue,
    .wait_open = open_wait_set,
    .trywait = try_wait,
    .domain2 = nosys,
};

}  // namespace

Fabric::Fabric(void* context) noexcept : Object(FI_CLASS_FABRIC, fabric_fid_ops, context) {
  ops = &fabric_ops;
}

int open_fabric(fi_fabric_attr* attr, fid_fabric** fabric, void* context) {
  if (!attr || (attr->name && std::strcmp(attr->name, kFabricName) != 0)) return -FI_ENODATA;
  return guarded([&] {
    *fabric = new Fabric(context);
    return 0;
  });
}

}  // namespace livebtl::fi
