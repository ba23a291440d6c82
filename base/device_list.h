// SPDX-License-Identifier: BSD-3-Clause
// base/device_list.h -- LIVEBTL_VERBS_DEVICE as a list: which devices and ports verbs uses, and
// their names as transports. Whether they exist, the transport finds out. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <livebtl/result.h>

namespace livebtl {

/// One entry: [NAME=]DEVICE[:PORT[:GID]].
struct DeviceWish {
  std::string device;     // empty: the first with a usable port
  std::uint8_t port = 0;  // 0: the first usable one
  int gid_index = -1;     // -1: the best
  std::string name = {};  // NAME; empty: named after its device
};

struct DeviceList {
  bool all_active = false;           // "auto"
  std::vector<DeviceWish> wishes{};  // as written; "auto": none
};

/// What the setting takes, for people.
inline constexpr std::string_view kDeviceListTakes =
    "it takes a device, its port and the index of an address, as in mlx5_0, mlx5_0:1 or "
    "mlx5_0:1:3; several, as in mlx5_0,mlx5_1; or auto";

/// "" gives an empty list. Errors: kInvalid; the text names the entry and what the setting takes.
Result<DeviceList> parse_device_list(std::string_view text);

/// The name of each entry after "verbs:": NAME, else DEVICE, or DEVICE:PORT if the list has the
/// device more than once. Empty for a single entry without NAME: that one is "verbs" itself.
std::vector<std::string> module_names(const DeviceList& list);

}  // namespace livebtl
