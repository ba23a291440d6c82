// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_modules.cc -- the verbs transports of a process: one, or one for each of
// several devices and ports (see verbs_transport.h).
#include "base/log.h"
#include "base/transport_name.h"
#include "transports/verbs/verbs_nearness.h"
#include "transports/verbs/verbs_transport.h"

namespace livebtl::verbs {
namespace {

constexpr std::string_view kFamily = "verbs";

core::TransportKind kind_of(const Module& module) {
  return {module.name,
          module.place ? "" : std::string(alias_of(kFamily)),
          [module](const core::NodeFacts& facts) -> Result<std::unique_ptr<core::Transport>> {
            auto calls = library();
            if (!calls) return tl::unexpected(calls.error());
            return VerbsTransport::make(facts, **calls, module);
          },
          kVerbsCaps.exclusivity,
          kVerbsCaps.bandwidth_mbps,
          true,
          true,
          messages::rdma_devices()};
}

/// "verbs:mlx5_0"; without a name: "verbs".
std::string called(const std::string& name) {
  return name.empty() ? std::string(kFamily) : std::string(kFamily) + ":" + name;
}

/// What "auto" stands for. If no port is active now, all ports: one may be active by the time that
/// verbs is added.
DeviceList found_list(const std::string& system_files) {
  const std::vector<ListedPort> ports = listed_ports(system_files);
  const bool any_active = std::ranges::any_of(ports, &ListedPort::active);
  DeviceList list{.all_active = true};
  for (const ListedPort& port : ports) {
    if (any_active && !port.active) continue;
    const auto of_device = std::ranges::count(ports, port.device, &ListedPort::device);
    const std::string name =
        of_device > 1 ? port.device + ":" + std::to_string(port.port) : port.device;
    if (is_transport_name(called(name)))
      list.wishes.push_back({port.device, port.port, -1, name});
    else
      log(LogLevel::kWarn, "verbs",
          "%s is left out: its name is too long for a transport's; name it in "
          "LIVEBTL_VERBS_DEVICE, as in NAME=%s",
          name.c_str(), port.device.c_str());
  }
  return list;
}

Result<std::vector<Module>> modules_of(const std::string& devices,
                                       const std::string& system_files) {
  auto list = parse_device_list(devices);
  if (!list) return fail(Errc::kInvalid, "verbs: LIVEBTL_VERBS_DEVICE: " + list.error().text);
  if (list->all_active) *list = found_list(system_files);
  const std::vector<std::string> names = module_names(*list);
  std::vector<Module> modules;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Module module{called(names[i]), list->wishes[i], {}, system_files};
    if (!names[i].empty()) module.place = static_cast<std::uint8_t>(std::min<std::size_t>(i, 255));
    modules.push_back(std::move(module));
  }
  if (modules.empty()) modules.push_back({});
  return modules;
}

}  // namespace

core::TransportKind verbs_kind() { return kind_of({}); }

Result<std::vector<core::TransportKind>> verbs_kinds(const std::string& devices,
                                                     std::size_t kinds_max,
                                                     const std::string& system_files) {
  const auto modules = modules_of(devices, system_files);
  if (!modules) return tl::unexpected(modules.error());
  std::vector<core::TransportKind> kinds;
  for (const Module& module : *modules) {
    if (kinds.size() < kinds_max)
      kinds.push_back(kind_of(module));
    else
      log(LogLevel::kWarn, "verbs",
          "%s is left out: a process has %zu transports at most; name fewer others in "
          "LIVEBTL_TRANSPORTS, or fewer devices in LIVEBTL_VERBS_DEVICE",
          module.name.c_str(), kTransportsMax);
  }
  return kinds;
}

Result<core::TransportKind> verbs_kind_named(const std::string& name, const std::string& devices,
                                             const std::string& system_files) {
  const auto modules = modules_of(devices, system_files);
  if (!modules) return tl::unexpected(modules.error());
  for (const Module& module : *modules) {
    if (module.name == name) return kind_of(module);
  }
  const auto one = parse_device_list(std::string_view(name).substr(kFamily.size() + 1));
  if (!one) return tl::unexpected(one.error());
  if (one->wishes.size() != 1)
    return fail(Errc::kInvalid, "'" + name + "' names no device, as verbs:mlx5_0 does");
  return kind_of({name, one->wishes.front(), std::uint8_t{0}, system_files});
}

}  // namespace livebtl::verbs
