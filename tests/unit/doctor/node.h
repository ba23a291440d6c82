// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/doctor/node.h -- a sound, played node, and what doctor finds on it once something has
// changed.
#pragma once

#include <doctest/doctest.h>

#include <functional>

#include "doctor/sight.h"
#include "tests/unit/launch/played_system.h"

namespace livebtl::test {

using doctor::Finding;
using doctor::Report;
using doctor::Sight;

inline const std::string kLibrary = std::string(kLib) + "/liblivebtl.so.0";
inline const std::string kProvider = std::string(kLib) + "/libfabric/liblivebtl-fi.so";
inline const std::string kComponent = std::string(kLib) + "/livebtl/openmpi/mca_pml_livebtl.so";
inline const std::string kDevice = "/sys/class/infiniband/mlx5_0";

struct Node {
  PlayedSystem system;
  Sight sight{system,
              {std::string(kLib) + "/libfabric", std::string(kLib) + "/livebtl/openmpi"},
              {},
              {},
              "0.1.0"};

  Node() {
    make_sound(system);
    system.links[kLibrary] = kLibrary + ".1.0";
    system.texts[std::string(kLib) + "/livebtl/livebtl-relay"] = "";
    system.program("/usr/bin/fi_info", "-p livebtl", "provider: livebtl\n");
    system.texts["/dev/shm/some"] = "";
    system.texts["/proc/self/status"] = "Name:\tbtlctl\nNSpid:\t4711\n";
    system.texts["/proc/sys/kernel/yama/ptrace_scope"] = "0\n";
    system.texts["/sys/devices/system/clocksource/clocksource0/current_clocksource"] = "tsc\n";
    sight.probe.locked_bytes_max = UINT64_MAX;
    sight.probe.descriptors_max = 20'000;
    sight.probe.shm_free_bytes = 1u << 30;
    sight.probe.run_directory = "/run/user/1000/livebtl";
    sight.probe.addresses = {{"eth0", *parse_ip("10.1.0.1"), 120},
                             {"lo", *parse_ip("127.0.0.1"), 104}};
    plug_card();
  }
  /// Plugs in a usable RoCE card.
  void plug_card() {
    system.texts[kDevice + "/device/infiniband_verbs/uverbs0"] = "";
    system.texts["/dev/infiniband/uverbs0"] = "";
    system.texts[kDevice + "/ports/1/state"] = "4: ACTIVE\n";
    system.texts[kDevice + "/ports/1/link_layer"] = "Ethernet\n";
    system.texts[kDevice + "/ports/1/gids/0"] = "fe80:0000:0000:0000:5054:00ff:fe12:3456\n";
    system.texts[kDevice + "/ports/1/gid_attrs/ndevs/0"] = "eth1\n";
    system.texts["/sys/class/net/eth1/mtu"] = "4200\n";
  }
  std::vector<std::string> found() const {
    Report report;
    check_node(sight, report);
    return ids(report);
  }
  /// A leading "livebtl-run" is not part of the line.
  std::vector<std::string> found_in(std::vector<std::string> line) const {
    Report report;
    const launch::Wishes wishes;
    const bool by_run = line.front() == "livebtl-run";
    if (by_run) line.erase(line.begin());
    check_line(sight, line, by_run ? &wishes : nullptr, report);
    return ids(report);
  }
  /// Checks that every finding says all three things, in words.
  static std::vector<std::string> ids(const Report& report) {
    std::vector<std::string> found;
    for (const Finding& each : report.findings) {
      CHECK_MESSAGE((each.what.size() > 8 && each.why.size() > 8 && each.action.size() > 8),
                    each.id);
      found.push_back(each.id);
    }
    return found;
  }
};

}  // namespace livebtl::test
