// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/verbs/system_files.h -- a directory in place of /sys, with RDMA devices and
// NUMA nodes.
#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace livebtl::test {

struct SystemFiles {
  SystemFiles() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
  ~SystemFiles() { std::filesystem::remove_all(path); }
  SystemFiles(const SystemFiles&) = delete;
  SystemFiles& operator=(const SystemFiles&) = delete;

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path + "/" + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  void add_port(const std::string& device, int port, bool active) const {
    write("class/infiniband/" + device + "/node_type", "1: CA");
    write("class/infiniband/" + device + "/ports/" + std::to_string(port) + "/state",
          active ? "4: ACTIVE" : "1: DOWN");
  }
  void set_node(const std::string& device, const std::string& node) const {
    write("class/infiniband/" + device + "/device/numa_node", node);
  }
  void add_node(int node, const std::string& processors, const std::string& distances) const {
    const std::string place = "devices/system/node/node" + std::to_string(node);
    write(place + "/cpulist", processors);
    write(place + "/distance", distances);
  }

  std::string path = "/tmp/livebtl-system-XXXXXX";
};

}  // namespace livebtl::test
