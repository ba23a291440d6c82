// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/migrate/migrate_scene.h -- two played machines, and a guest to be moved
// from one to the other: for tests of whole migrations. Owns both, and their sockets' directory.
#pragma once

#include <filesystem>
#include <memory>

#include "hypervisor/migrate/migrate_vm.h"
#include "hypervisor/qmp/qmp_vm.h"
#include "tests/unit/hypervisor/fake_machine.h"
#include "tests/unit/hypervisor/libvirt/played_libvirt.h"

namespace livebtl::hypervisor {

using Log = std::vector<std::string>;

/// How the machines are reached.
enum class By { kQmp, kLibvirt };
inline constexpr By kBoth[] = {By::kQmp, By::kLibvirt};
inline constexpr const char* kHere = "played:///here";
inline constexpr const char* kThere = "played:///there";

/// Two machines, and a guest with two cards in the first.
struct Scene {
  std::string directory;
  std::unique_ptr<FakeMachine> here, there;
  By by;
  PlayedLibvirt played;
  std::unique_ptr<Hypervisor> hypervisor;
  MigrateRequest request;
  std::atomic<bool> stop{false};

  explicit Scene(By reached_by = By::kQmp) : by(reached_by) {
    std::string pattern = std::filesystem::temp_directory_path() / "livebtl-vm-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    directory = pattern;
    here = std::make_unique<FakeMachine>(directory, "here");
    there = std::make_unique<FakeMachine>(directory, "there");
    here->with([](auto& state) {
      for (const char* id : {"hca0", "hca1"})
        state.cards[id] = {{"driver", "vfio-pci"}, {"id", id}, {"bus", "port"}};
    });
    there->with([](auto& state) { state.status = "inmigrate"; });
    here->with([this](auto& state) { state.moves_to = there.get(); });
    reach();
    request.cards = {"hca0", "hca1"};
    request.timeout = 60 * kSecond;
  }
  ~Scene() {
    here.reset();
    there.reset();
    std::filesystem::remove_all(directory);
  }

  void reach() {
    if (by == By::kLibvirt) {
      played.add(kHere, *here);
      played.add(kThere, *there);
      hypervisor = std::make_unique<LibvirtHypervisor>(PlayedLibvirt::calls());
      request.source = {kHere, "", kPlayedDomain};
      request.destination = {kThere, "", kPlayedDomain};
      request.to = kThere;
    } else {
      hypervisor = std::make_unique<QmpHypervisor>();
      request.source = {here->qmp(), here->agent(), ""};
      request.destination = {there->qmp(), there->agent(), ""};
      request.to = "tcp:there:1";
    }
    request.hypervisor = hypervisor.get();
  }
  /// What makes the guest run there: libvirt does that itself.
  Log arrival() const { return by == By::kQmp ? Log{"cont"} : Log{}; }
  /// Leaves the note of a call that was killed before the card was plugged in again.
  void pull(const std::string& id) {
    here->with([&](auto& state) {
      Json note = state.cards[id];
      if (by == By::kLibvirt) note["xml"] = "<vfio-pci><alias name=\"" + id + "\"/></vfio-pci>";
      state.objects["livebtl-" + id] = note.dump();
      state.cards.erase(id);
    });
  }

  Report run() {
    return migrate_vm(request, stop, [](const std::string&) {});
  }
  static Log log_of(FakeMachine& machine) {
    return machine.with([](auto& state) { return state.log; });
  }
  std::size_t cards_here() {
    return here->with([](auto& state) { return state.cards.size(); });
  }
};

inline const Log kWayThere = {"prepare", "device_del hca0", "device_del hca1", "migrate"};
inline const Log kWayBack = {"device_add hca0", "device_add hca1", "return"};

inline Log then(Log log, const Log& more) {
  log.insert(log.end(), more.begin(), more.end());
  return log;
}

}  // namespace livebtl::hypervisor
