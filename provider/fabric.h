// SPDX-License-Identifier: BSD-3-Clause
// provider/fabric.h -- fi_getinfo; and fi_fabric, which opens domains, event queues and wait sets,
// and holds nothing itself.
#pragma once

#include <rdma/fabric.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include "provider/object.h"

namespace livebtl::fi {

class Fabric final : public Object<Fabric, fid_fabric> {
 public:
  explicit Fabric(void* context) noexcept;
};

/// fi_getinfo: exactly one info for a request that we can serve. Cheap and without side effects:
/// libfabric's utility providers call it several times for each call of the application.
int get_info(std::uint32_t api_version, const char* node, const char* service, std::uint64_t flags,
             const fi_info* hints, fi_info** info);
int open_fabric(fi_fabric_attr* attr, fid_fabric** fabric, void* context);

/// What fi_prov_ini hands to libfabric; log lines name it.
fi_provider& provider_record() noexcept;

}  // namespace livebtl::fi
