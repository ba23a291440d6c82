// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/set/machine_pair.h -- what tests of whole snapshots and restores start
// from.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "hypervisor/qmp/qmp_vm.h"
#include "hypervisor/restore/restore_vms.h"
#include "hypervisor/snapshot/snapshot_vms.h"
#include "tests/unit/hypervisor/fake_machine.h"
#include "tests/unit/hypervisor/libvirt/played_libvirt.h"

namespace livebtl::hypervisor {

/// Two machines with a card each, and a directory for their set.
struct MachinePair {
  std::string directory;
  std::unique_ptr<FakeMachine> machines[2];
  PlayedLibvirt* played;  // nullptr: they are reached through their sockets
  std::unique_ptr<Hypervisor> hypervisor;
  SetRequest request;
  std::atomic<bool> stop{false};

  explicit MachinePair(PlayedLibvirt* libvirt = nullptr) : played(libvirt) {
    if (played != nullptr) {
      hypervisor = std::make_unique<LibvirtHypervisor>(PlayedLibvirt::calls());
    } else {
      hypervisor = std::make_unique<QmpHypervisor>();
    }
    std::string pattern = std::filesystem::temp_directory_path() / "livebtl-vm-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    directory = pattern;
    start("running");
    request.hypervisor = hypervisor.get();
    request.directory = directory + "/set";
    request.lease = 120 * kSecond;
    request.timeout = 60 * kSecond;
  }
  ~MachinePair() {
    for (auto& machine : machines) machine.reset();
    std::filesystem::remove_all(directory);
  }

  /// Starts new QEMUs in place of the existing ones.
  void start(const std::string& status) {
    request.machines.clear();
    for (int i = 0; i < 2; ++i) {
      const std::string name = "vm" + std::to_string(i + 1);
      machines[i].reset();
      for (const char* socket : {".qmp", ".agent"})
        std::filesystem::remove(directory + "/" + name + socket);
      machines[i] = std::make_unique<FakeMachine>(directory, name);
      const bool runs = status == "running";
      machines[i]->with([&](auto& state) {
        state.status = status;
        state.memory = runs ? "the memory of " + name : "";
        if (runs) state.cards["hca"] = {{"driver", "vfio-pci"}, {"id", "hca"}, {"bus", "port"}};
      });
      if (played != nullptr) {
        played->add("played:///" + name, *machines[i]);
        request.machines.push_back({name, {"played:///" + name, "", kPlayedDomain}, {}});
      } else {
        request.machines.push_back({name, {machines[i]->qmp(), machines[i]->agent(), ""}, {}});
      }
      if (runs) request.machines.back().cards = {"hca"};
    }
  }
  Report snapshot(const Progress& progress = [](const std::string&) {}) {
    return snapshot_vms(request, stop, progress);
  }
  Report restore() {
    return restore_vms(request, stop, [](const std::string&) {});
  }
  template <class Change>
  void both(const Change& change) {
    for (auto& machine : machines) machine->with(change);
  }
  std::vector<std::string> log(int machine) {
    return machines[machine]->with([](auto& state) { return std::exchange(state.log, {}); });
  }
  std::string file(const std::string& name) const {
    std::ifstream in(request.directory + "/" + name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Everything runs, with its card, and QEMU holds nothing of ours any more.
  void is_as_before() {
    both([](auto& state) {
      CHECK(state.status == "running");
      CHECK(state.cards.contains("hca"));
      CHECK(state.objects.empty());
      CHECK(state.bandwidth == 7);
    });
  }
};

}  // namespace livebtl::hypervisor
