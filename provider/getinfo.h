// SPDX-License-Identifier: BSD-3-Clause
// provider/getinfo.h -- fi_getinfo: exactly one info for a request that we can serve. Cheap and
// without side effects: libfabric's utility providers call it several times for each application's.
#pragma once

#include <rdma/fabric.h>

#include <cstdint>

namespace livebtl::fi {

int get_info(std::uint32_t api_version, const char* node, const char* service, std::uint64_t flags,
             const fi_info* hints, fi_info** info);

}  // namespace livebtl::fi
