// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_ports.cc -- see verbs_ports.h.
#include "transports/verbs/verbs_ports.h"

#include <cerrno>
#include <memory>
#include <tuple>
#include <vector>

#include "transports/verbs/verbs_errors.h"

namespace livebtl::verbs {
namespace {

constexpr int kGidsMax = 256;  // that we read: a route has one byte for the index

Gid gid_of(const ibv_gid_entry& entry) noexcept {
  Gid gid;
  std::memcpy(gid.data(), entry.gid.raw, gid.size());
  return gid;
}

const char* state_name(ibv_port_state state) noexcept {
  switch (state) {
    case IBV_PORT_DOWN:
      return "down: is the cable in, and its network interface up?";
    case IBV_PORT_INIT:
    case IBV_PORT_ARMED:
      return "not configured yet: does a subnet manager run?";
    case IBV_PORT_ACTIVE:
    case IBV_PORT_ACTIVE_DEFER:
      return "active";
    case IBV_PORT_NOP:
      break;
  }
  return "in an unknown state";
}

std::vector<ibv_gid_entry> read_gids(Calls& calls, ibv_context* context, std::uint8_t port,
                                     int count) {
  std::vector<ibv_gid_entry> entries;
  for (int index = 0; index < std::min(count, kGidsMax); ++index) {
    ibv_gid_entry entry{};
    if (calls.query_gid(context, port, index, &entry) != 0 || gid_of(entry) == Gid{}) continue;
    entry.gid_index = static_cast<std::uint32_t>(index);
    entries.push_back(entry);
  }
  return entries;
}

/// Lower is better.
std::tuple<bool, GidScope, std::uint32_t> rank(const ibv_gid_entry& entry) noexcept {
  return {entry.gid_type != IBV_GID_TYPE_ROCE_V2, scope_of(gid_of(entry)), entry.gid_index};
}

Fabric fabric_of(const ibv_gid_entry& entry, bool infiniband) noexcept {
  if (infiniband) return Fabric::kInfiniBand;
  return entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? Fabric::kRoceV2 : Fabric::kRoceV1;
}

}  // namespace

std::optional<ibv_gid_entry> choose_gid(std::span<const ibv_gid_entry> entries) {
  const ibv_gid_entry* best = nullptr;
  for (const ibv_gid_entry& entry : entries) {
    if (entry.ndev_ifindex != entries.front().ndev_ifindex) continue;
    if (best == nullptr || rank(entry) < rank(*best)) best = &entry;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

Result<PortState> look_at_port(Calls& calls, ibv_context* context, std::uint8_t port,
                               int gid_index) {
  const std::string name = "port " + std::to_string(port);
  ibv_port_attr found{};
  if (const int error = calls.query_port(context, port, &found); error != 0)
    return fail(Errc::kDown, name + " cannot be queried: " + errno_text(error));
  if (found.state != IBV_PORT_ACTIVE)
    return fail(Errc::kUnreachable, name + " is " + state_name(found.state));
  const bool infiniband = found.link_layer != IBV_LINK_LAYER_ETHERNET;
  if (infiniband && found.lid == 0)
    return fail(Errc::kUnreachable, name + " has no LID yet; does a subnet manager run?");
  std::vector<ibv_gid_entry> entries = read_gids(calls, context, port, found.gid_tbl_len);
  if (gid_index >= 0) {
    std::erase_if(entries, [&](const ibv_gid_entry& entry) {
      return entry.gid_index != static_cast<std::uint32_t>(gid_index);
    });
  }
  // InfiniBand: the first one is the port's own.
  const auto best = infiniband && !entries.empty() ? entries.front() : choose_gid(entries);
  if (!best) return fail(Errc::kUnreachable, name + " has no address (GID)");
  PortState state;
  state.address = {fabric_of(*best, infiniband), infiniband ? found.lid : std::uint16_t{0},
                   gid_of(*best)};
  state.gid_index = static_cast<int>(best->gid_index);
  state.mtu = static_cast<std::uint8_t>(found.active_mtu);
  state.global_route = !infiniband || (found.flags & IBV_QPF_GRH_REQUIRED) != 0;
  return state;
}

namespace {

Result<OpenPort> open_port_of(Calls& calls, ibv_device& device, const Wish& wish) {
  OpenPort opened;
  opened.device = device.name;
  if (device.transport_type == IBV_TRANSPORT_IWARP)
    return fail(Errc::kUnsupported, opened.device + ": iWARP is not supported; use tcp");
  opened.context = calls.open_device(&device);
  if (opened.context == nullptr) return tl::unexpected(cannot_open(device, errno));
  ibv_device_attr attributes{};
  if (const int error = calls.query_device(opened.context, &attributes); error != 0) {
    calls.close_device(opened.context);
    return fail(Errc::kDown, opened.device + " cannot be queried: " + errno_text(error));
  }
  const unsigned last = wish.port != 0 ? wish.port : attributes.phys_port_cnt;
  std::string reasons;
  for (unsigned port = std::max<unsigned>(1, wish.port); port <= last; ++port) {
    opened.port = static_cast<std::uint8_t>(port);
    auto state = look_at_port(calls, opened.context, opened.port, wish.gid_index);
    if (state) {
      opened.state = *state;
      return opened;
    }
    reasons += (reasons.empty() ? "" : ", ") + state.error().text;
  }
  calls.close_device(opened.context);
  return fail(Errc::kUnreachable, opened.device + ": " + reasons);
}

}  // namespace

Result<OpenPort> open_port(Calls& calls, const Wish& wish) {
  int count = 0;
  const auto give_back = [&](ibv_device** list) { calls.free_device_list(list); };
  const std::unique_ptr<ibv_device*, decltype(give_back)> list(calls.get_device_list(&count),
                                                               give_back);
  std::string names, reasons;
  Errc code = Errc::kUnreachable;
  for (int i = 0; list && i < count; ++i) {
    ibv_device* const device = list.get()[i];
    names += (names.empty() ? "" : ", ") + std::string(device->name);
    if (!wish.device.empty() && wish.device != device->name) continue;
    auto opened = open_port_of(calls, *device, wish);
    if (opened) return opened;
    code = opened.error().code;
    reasons += (reasons.empty() ? "" : "; ") + opened.error().text;
  }
  if (!reasons.empty()) return fail(code, "verbs: no port can be used: " + reasons);
  if (names.empty())
    return fail(
        Errc::kUnreachable,
        "verbs: this machine has no RDMA device (`rdma link` shows them): load the card's driver, "
        "or use another transport");
  return fail(Errc::kNotFound, "verbs: LIVEBTL_VERBS_DEVICE names '" + wish.device +
                                   "'; this machine has: " + names);
}

}  // namespace livebtl::verbs
