// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_library.h -- the libfabric functions that are looked up by name. The library
// is opened only when a transport is made; in a program that runs over our provider plug-in it is
// already loaded, and is the same one.
#pragma once

#include <rdma/fabric.h>

#include <memory>

#include "livebtl/result.h"

namespace livebtl::ofi {

struct Library {
  decltype(&fi_getinfo) getinfo = nullptr;
  decltype(&fi_freeinfo) freeinfo = nullptr;
  decltype(&fi_dupinfo) dupinfo = nullptr;
  decltype(&fi_fabric) fabric = nullptr;
  decltype(&fi_strerror) strerror = nullptr;
};

/// Stays open until the process ends. Errors: kUnsupported (not installed, or too old).
Result<const Library*> library();

struct FreeInfo {
  const Library* library = nullptr;
  void operator()(fi_info* info) const noexcept { library->freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

}  // namespace livebtl::ofi
