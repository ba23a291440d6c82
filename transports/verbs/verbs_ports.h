// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_ports.h -- the choice of device, port and address (GID) for a verbs
// transport.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/device_list.h"
#include "transports/verbs/verbs_address.h"
#include "transports/verbs/verbs_calls.h"

namespace livebtl::verbs {

using Wish = DeviceWish;

/// A port as it is now.
struct PortState {
  PortAddress address;
  int gid_index = 0;
  std::uint8_t mtu = 0;  // an ibv_mtu
  // Frames carry a global route header: on RoCE, and where an InfiniBand port requires it of all,
  // as some virtual functions do.
  bool global_route = false;
};
/// Errors: kUnreachable: it is not active, or has no address; kDown: the device is gone.
Result<PortState> look_at_port(Calls& calls, ibv_context* context, std::uint8_t port,
                               int gid_index = -1);

/// The best of a RoCE port's entries: RoCEv2 before RoCEv1; IPv4 before global IPv6 before
/// link-local addresses; then the lowest index. Only entries of the port's own network device,
/// which has the first entry: those of VLANs and bridges above it lead elsewhere.
std::optional<ibv_gid_entry> choose_gid(std::span<const ibv_gid_entry> entries);

struct OpenPort {
  ibv_context* context = nullptr;  // the caller closes it
  std::string device;              // "mlx5_0"
  std::uint8_t port = 0;
  PortState state;
};
/// Opens a device with a port that can be used. Errors: kNotFound (no such device); kUnreachable,
/// kAuth, kSystem, kDown, kUnsupported (none; all reasons).
Result<OpenPort> open_port(Calls& calls, const Wish& wish);

}  // namespace livebtl::verbs
