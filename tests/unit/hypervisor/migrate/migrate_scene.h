// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/migrate/migrate_scene.h -- two machines that are played, and a guest to be
// moved from the one to the other: for tests of whole migrations. Owns both, and their sockets'
// directory.
#pragma once

#include <filesystem>
#include <memory>

#include "hypervisor/migrate/migrate_vm.h"
#include "tests/unit/hypervisor/fake_machine.h"

namespace livebtl::hypervisor {

using Log = std::vector<std::string>;

/// Two machines, and a guest with two cards in the first.
struct Scene {
  std::string directory;
  std::unique_ptr<FakeMachine> here, there;
  MigrateRequest request;
  std::atomic<bool> stop{false};

  Scene() {
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
    request.qmp = here->qmp();
    request.agent = here->agent();
    request.to = "tcp:there:1";
    request.cards = {"hca0", "hca1"};
    request.destination_qmp = there->qmp();
    request.destination_agent = there->agent();
    request.timeout = 60 * kSecond;
  }
  ~Scene() {
    here.reset();
    there.reset();
    std::filesystem::remove_all(directory);
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
