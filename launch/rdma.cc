// SPDX-License-Identifier: BSD-3-Clause
// launch/rdma.cc -- see rdma.h.
#include "launch/rdma.h"

#include <algorithm>

namespace livebtl::launch {
namespace {

constexpr const char* kDevices = "/sys/class/infiniband";
constexpr std::string_view kGidCharacters = "0:\n";  // of an unset one

std::string value_in(const System& system, const std::string& path) {
  return std::string(trimmed(system.file_text(path).value_or("")));
}

RdmaPort read_port(const System& system, const std::string& device, const std::string& number) {
  const std::string place = std::string(kDevices) + "/" + device + "/ports/" + number;
  RdmaPort port;
  port.device = device;
  port.number = number;
  const std::string state = value_in(system, place + "/state");  // "4: ACTIVE"
  const std::size_t colon = state.find(": ");
  port.state = colon == std::string::npos ? state : state.substr(colon + 2);
  port.ethernet = value_in(system, place + "/link_layer") == "Ethernet";
  for (const std::string& gid : system.names_in(place + "/gids")) {
    const std::string address = value_in(system, place + "/gids/" + gid);
    if (address.find_first_not_of(kGidCharacters) == std::string::npos) continue;
    port.has_address = true;
    if (port.interface.empty())
      port.interface = value_in(system, place + "/gid_attrs/ndevs/" + gid);
  }
  return port;
}

}  // namespace

std::vector<std::string> rdma_devices(const System& system) { return system.names_in(kDevices); }

std::vector<RdmaPort> rdma_ports(const System& system) {
  std::vector<RdmaPort> ports;
  for (const std::string& device : rdma_devices(system)) {
    for (const std::string& number :
         system.names_in(std::string(kDevices) + "/" + device + "/ports"))
      ports.push_back(read_port(system, device, number));
  }
  return ports;
}

bool has_usable_port(const System& system) {
  const auto ports = rdma_ports(system);
  return std::any_of(ports.begin(), ports.end(), [](const RdmaPort& port) {
    return port.active() && (port.has_address || !port.ethernet);
  });
}

}  // namespace livebtl::launch
