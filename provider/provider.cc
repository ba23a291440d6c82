// SPDX-License-Identifier: BSD-3-Clause
// provider/provider.cc -- what libfabric calls when it has loaded us: the one exported symbol.
#include "provider/provider.h"

#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include <cstdio>
#include <cstdlib>

#include "base/config_file.h"
#include "provider/fabric.h"
#include "provider/hidden_devices.h"

namespace livebtl::fi {

int errno_of(Errc code) noexcept {
  switch (code) {
    case Errc::kOk:
      return 0;
    case Errc::kInvalid:
      return FI_EINVAL;
    case Errc::kUnreachable:
    case Errc::kDown:
      return FI_EHOSTUNREACH;
    case Errc::kRefused:
      return FI_ECONNREFUSED;
    case Errc::kTimeout:
      return FI_ETIMEDOUT;
    case Errc::kAuth:
      return FI_EPERM;
    case Errc::kNoMemory:
      return FI_ENOMEM;
    case Errc::kLimit:
      return FI_EMSGSIZE;
    case Errc::kUnsupported:
      return FI_EOPNOTSUPP;
    case Errc::kCancelled:
      return FI_ECANCELED;
    case Errc::kTruncated:
      return FI_ETRUNC;
    case Errc::kPeerLost:
      return FI_ECONNABORTED;
    case Errc::kNotFound:
      return FI_ENOENT;
    case Errc::kBadKey:
      return FI_ENOKEY;
    case Errc::kSystem:
    case Errc::kCorrupt:
      break;
  }
  return FI_EIO;
}

namespace {

// Called at exit, after our static objects are gone: engines have ended with their domains.
void clean_up() {}

fi_provider record = {
    .version = FI_VERSION(0, 1),
    .fi_version = 0,
    .context = {},
    .name = kProviderName,
    .getinfo = get_info,
    .fabric = open_fabric,
    .cleanup = clean_up,
};

// libfabric loads providers from files before it starts the built-in ones, which have therefore
// opened nothing yet.
int hide_devices_if_due() {
  if (!devices_are_to_be_hidden(::getenv, open_mpi_parameter, config_paths())) return 0;
  if (const Status hidden = hide_devices(); !hidden) tell_user(hidden.error());
  return 0;
}

}  // namespace

fi_provider& provider_record() noexcept { return record; }

void tell_user(const Error& error) noexcept {
  if (fi_log_enabled(&record, FI_LOG_WARN, FI_LOG_DOMAIN)) {
    FI_WARN(&record, FI_LOG_DOMAIN, "%s\n", error.text.c_str());
  } else {
    std::fprintf(stderr, "livebtl error provider: %s\n", error.text.c_str());
  }
}

}  // namespace livebtl::fi

extern "C" __attribute__((visibility("default"))) fi_provider* fi_prov_ini();

extern "C" fi_provider* fi_prov_ini() {
  livebtl::fi::record.fi_version = fi_version();
  livebtl::fi::guarded(livebtl::fi::hide_devices_if_due);
  return &livebtl::fi::record;
}
