// SPDX-License-Identifier: BSD-3-Clause
// provider/ep_calls.cc -- the endpoint's tables of calls, except for data: control, options, names.
#include <rdma/fi_collective.h>

#include <algorithm>
#include <cstring>

#include "provider/ep.h"
#include "provider/provider.h"

namespace livebtl::fi {
namespace {

int bind_endpoint(fid_t object, fid* other, uint64_t flags) {
  Endpoint& endpoint = Endpoint::of(object);
  return endpoint.port() ? -FI_EOPBADSTATE : endpoint.bind(other, flags);
}

int control_endpoint(fid_t object, int command, void* argument) {
  Endpoint& endpoint = Endpoint::of(object);
  constexpr std::uint64_t kWhich = FI_TRANSMIT | FI_RECV;
  switch (command) {
    case FI_ENABLE:
      return guarded([&] { return endpoint.enable(); });
    case FI_GETOPSFLAG: {
      auto& flags = *static_cast<std::uint64_t*>(argument);
      if ((flags & kWhich) == kWhich || !(flags & kWhich)) return -FI_EINVAL;
      flags = flags & FI_TRANSMIT ? endpoint.transmit_flags() : endpoint.receive_flags();
      return 0;
    }
    case FI_SETOPSFLAG: {
      const std::uint64_t flags = *static_cast<const std::uint64_t*>(argument);
      return endpoint.set_operation_flags(flags & ~kWhich, flags & kWhich);
    }
    default:
      return -FI_ENOSYS;
  }
}

ssize_t cancel_operation(fid_t object, void* context) {
  Endpoint& endpoint = Endpoint::of(object);
  return endpoint.port() ? endpoint.cancel(context) : -FI_EOPBADSTATE;
}

int get_option(fid_t object, int level, int name, void* value, size_t* bytes) {
  if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
  if (*bytes < sizeof(size_t)) return -FI_ETOOSMALL;
  const std::size_t least = Endpoint::of(object).multi_bytes_min();
  std::memcpy(value, &least, sizeof least);
  *bytes = sizeof least;
  return 0;
}

int set_option(fid_t object, int level, int name, const void* value, size_t bytes) {
  if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
  if (bytes != sizeof(size_t)) return -FI_EINVAL;
  std::size_t least = 0;
  std::memcpy(&least, value, sizeof least);
  // To the engine, 0 would mean that the buffer takes only one message.
  Endpoint::of(object).set_multi_bytes_min(std::max<std::size_t>(least, 1));
  return 0;
}

template <std::size_t kMost>
ssize_t room_left(fid_ep* endpoint) {
  return Endpoint::of(endpoint).port() ? static_cast<ssize_t>(kMost) : -FI_EOPBADSTATE;
}

int get_name(fid_t object, void* name, size_t* bytes) {
  Port* const port = Endpoint::of(object).port();
  if (!port) return -FI_EOPBADSTATE;
  const std::size_t room = *bytes;
  *bytes = kAddressBytes;
  const Address address = port->address();
  if (name) std::memcpy(name, address.raw.data(), std::min(room, kAddressBytes));
  return room < kAddressBytes ? -FI_ETOOSMALL : 0;
}

}  // namespace

fi_ops endpoint_fid_ops = {
    sizeof(fi_ops), close_object<Endpoint>, bind_endpoint, control_endpoint, nosys, nosys, nosys,
};
fi_ops_ep endpoint_ops = {
    .size = sizeof(fi_ops_ep),
    .cancel = cancel_operation,
    .getopt = get_option,
    .setopt = set_option,
    .tx_ctx = nosys,
    .rx_ctx = nosys,
    .rx_size_left = room_left<kReceivesMax>,
    .tx_size_left = room_left<kTransmitsMax>,
};
fi_ops_cm name_ops = {
    .size = sizeof(fi_ops_cm),
    .setname = nosys,
    .getname = get_name,
    .getpeer = nosys,
    .connect = nosys,
    .listen = nosys,
    .accept = nosys,
    .reject = nosys,
    .shutdown = nosys,
    .join = nosys,
};
fi_ops_collective collective_ops = {
    .size = sizeof(fi_ops_collective),
    .barrier = nosys,
    .broadcast = nosys,
    .alltoall = nosys,
    .allreduce = nosys,
    .allgather = nosys,
    .reduce_scatter = nosys,
    .reduce = nosys,
    .scatter = nosys,
    .gather = nosys,
    .msg = nosys,
    .barrier2 = nosys,
};

}  // namespace livebtl::fi
