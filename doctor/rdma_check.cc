// SPDX-License-Identifier: BSD-3-Clause
// doctor/rdma_check.cc -- can the verbs transport be used, and who else holds its devices? No device is opened.
#include <algorithm>

#include "base/device_list.h"
#include "base/text.h"
#include "doctor/sight.h"
#include "launch/rdma.h"

namespace livebtl::doctor {
namespace {

/// The smallest MTU that makes verbs worth using: RoCE takes the largest of 256, 512, 1024, ...
/// that fits.
constexpr unsigned kInterfaceMtuMin = 1280;

std::string name_of(const launch::RdmaPort& port) { return port.device + " port " + port.number; }

/// /dev/infiniband/uverbsN of a device; "": the kernel shows none.
std::string device_file(const Sight& sight, const std::string& device) {
  const auto names =
      sight.system.names_in("/sys/class/infiniband/" + device + "/device/infiniband_verbs");
  return names.empty() ? "" : "/dev/infiniband/" + names.front();
}

void check_device_file(const Sight& sight, const std::string& device, Report& report) {
  const std::string file = device_file(sight, device);
  if (file.empty() || !sight.system.facts(file)) {
    report.fault("rdma-device-file", device + " has no file in /dev/infiniband",
                 "Programs reach the device by that file alone.",
                 "modprobe ib_uverbs; in a container: --device /dev/infiniband");
  } else if (!sight.system.may_read_and_write(file)) {
    report.fault("rdma-permission", "you may not open " + file,
                 "Programs reach the device by that file alone.",
                 "chmod 0666 " + file + ", as the rules of the package rdma-core do");
  }
}

void check_interface(const Sight& sight, const launch::RdmaPort& port, Report& report) {
  const std::string place = "/sys/class/net/" + port.interface;
  if (port.interface.empty() || !sight.system.facts(place + "/mtu")) {
    report.fault(
        "rdma-interface",
        name_of(port) + ": its network interface is not in this network namespace",
        "Its addresses cannot be used from here, and connections fail.",
        "start the program in the device's namespace: rdma system; ip link set IFACE netns NAME");
    return;
  }
  const auto mtu =
      parse_number<unsigned>(launch::trimmed(sight.system.file_text(place + "/mtu").value_or("")));
  if (mtu && *mtu < kInterfaceMtuMin) {
    report.fault(
        "rdma-mtu",
        port.interface + ", below " + name_of(port) + ", has an MTU of " + std::to_string(*mtu),
        "RDMA then sends packets of 512 bytes or less, at a fraction of the link's rate.",
        "ip link set " + port.interface + " mtu 4200, on all nodes and switches");
  }
}

void check_port(const Sight& sight, const launch::RdmaPort& port, Report& report) {
  if (!port.active()) {
    report.fault(
        "rdma-port", name_of(port) + " is " + (port.state.empty() ? "in no state" : port.state),
        "verbs uses active ports alone; pairs go by tcp.",
        port.ethernet
            ? "ip link set " + (port.interface.empty() ? std::string("IFACE") : port.interface) +
                  " up; is the cable in?"
            : "ibstat; is the cable in, and does a subnet manager run (opensm)?");
  } else if (port.ethernet && !port.has_address) {
    report.fault("rdma-address", name_of(port) + " has no address (GID)",
                 "Nobody can connect to it; pairs go by tcp.",
                 "ip address add ADDRESS/24 dev IFACE: the device takes its addresses from its "
                 "network interface");
  } else {
    if (port.ethernet) check_interface(sight, port, report);
    report.fact("verbs",
                name_of(port) + (port.ethernet ? ", RoCE, active" : ", InfiniBand, active"));
  }
}

/// A malformed list is a fault of the settings, reported there.
void check_wish(const Sight& sight, const std::vector<std::string>& devices, Report& report) {
  const auto list = parse_device_list(sight.settings.verbs_device);
  if (!list) return;
  std::string known, missing;
  for (const std::string& each : devices) known += " " + each;
  for (const DeviceWish& wish : list->wishes) {
    if (std::find(devices.begin(), devices.end(), wish.device) == devices.end())
      missing += (missing.empty() ? "" : ", ") + wish.device;
  }
  if (missing.empty()) return;
  const bool several = list->wishes.size() > 1;
  report.fault("verbs-device",
               "LIVEBTL_VERBS_DEVICE names " + missing + ", and there is " +
                   (known.empty() ? "none" : "only" + known),
               several ? "What it names and is not there cannot be used on this node; pairs go by "
                         "the others, or by tcp."
                       : "verbs cannot be used on this node; pairs go by tcp.",
               several ? "name those alone that are there, or write auto"
                       : "unset LIVEBTL_VERBS_DEVICE, or name one that is there");
}

}  // namespace

void check_rdma(const Sight& sight, Report& report) {
  const auto devices = launch::rdma_devices(sight.system);
  check_wish(sight, devices, report);
  if (devices.empty()) {
    report.fact("verbs", "no RDMA device");
    return;
  }
  if (!sight.probe.verbs_library) {
    report.fault("rdma-library", "there is an RDMA device, but no libibverbs.so.1",
                 "verbs cannot be opened; pairs go by tcp.",
                 "apt install libibverbs1 ibverbs-providers");
  }
  for (const std::string& device : devices) check_device_file(sight, device, report);
  for (const launch::RdmaPort& port : launch::rdma_ports(sight.system))
    check_port(sight, port, report);
  for (const std::string& holder : sight.probe.device_holders) {
    report.note(
        "rdma-held", holder + " holds an RDMA device open",
        "A machine cannot be migrated, and a device not be taken away, as long as it does.",
        "end it before a migration; jobs over livebtl let go by `btlctl checkpoint prepare`");
  }
}

}  // namespace livebtl::doctor
