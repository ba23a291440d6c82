// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_library.cc -- see ofi_library.h.
#include "transports/ofi/ofi_library.h"

#include <dlfcn.h>

namespace livebtl::ofi {
namespace {

template <class Function>
bool find(void* handle, const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  return function != nullptr;
}

Result<Library> open() {
  void* const handle = ::dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = ::dlerror();
    return fail(Errc::kUnsupported, std::string("ofi: libfabric cannot be opened (") +
                                        (why == nullptr ? "?" : why) +
                                        "); install the package libfabric1");
  }
  Library library;
  const bool all = find(handle, "fi_getinfo", library.getinfo) &&
                   find(handle, "fi_freeinfo", library.freeinfo) &&
                   find(handle, "fi_dupinfo", library.dupinfo) &&
                   find(handle, "fi_fabric", library.fabric) &&
                   find(handle, "fi_strerror", library.strerror);
  if (!all)
    return fail(Errc::kUnsupported, "ofi: this libfabric is too old; install 1.17 or later");
  return library;
}

}  // namespace

Result<const Library*> library() {
  static const Result<Library> opened = open();
  if (!opened) return tl::unexpected(opened.error());
  return &*opened;
}

}  // namespace livebtl::ofi
