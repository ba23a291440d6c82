// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/migrate/migrate_interference_test.cc -- what guests and operators do to a
// migration at the wrong moment, over sockets.
#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/unit/hypervisor/migrate/migrate_scene.h"
#include "tests/unit/hypervisor/set/machine_pair.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

void wait_for(FakeMachine& machine, const std::string& entry) {
  const auto seen = [&entry](auto& state) {
    return std::find(state.log.begin(), state.log.end(), entry) != state.log.end();
  };
  while (!machine.with(seen)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

Log without_return(Log log) {
  log.pop_back();
  return log;
}

}  // namespace

TEST_CASE("a job returns when the guest has its card, which is later than QEMU has it") {
  Scene moved;
  moved.there->with([](auto& state) { state.not_yet["return"] = 1; });
  const auto report = moved.run();
  CHECK(report.end.code == 0);
  CHECK(Scene::log_of(*moved.there) == then(then({"cont"}, kWayBack), {"return"}));
  Scene back;
  back.here->with([](auto& state) {
    state.not_yet["return"] = 1;
    state.migration_ends = "failed";
  });
  CHECK(back.run().end.code == 5);
  CHECK(Scene::log_of(*back.here) == then(then(kWayThere, kWayBack), {"return"}));
}

TEST_CASE("a guest without a job is migrated, unless the user has named the job") {
  Scene scene;
  scene.here->with([](auto& state) { state.guest_codes["prepare"] = 2; });
  const auto report = scene.run();
  CHECK(report.end.code == 0);
  CHECK(report.end.text.find("no job") != std::string::npos);
  CHECK(Scene::log_of(*scene.here) == kWayThere);
  CHECK(Scene::log_of(*scene.there) == then({"cont"}, without_return(kWayBack)));
  Scene named;
  named.request.guest.job = "7";
  named.here->with([](auto& state) { state.guest_codes["prepare"] = 2; });
  CHECK(named.run().end.code == 2);
  CHECK(Scene::log_of(*named.here) == Log{"prepare", "return"});
}

TEST_CASE("a job that has ended on the way need not return") {
  Scene scene;
  scene.there->with([](auto& state) { state.guest_codes["return"] = 2; });
  const auto report = scene.run();
  CHECK(report.end.code == 0);
  CHECK(report.end.text.find("no job") != std::string::npos);
}

TEST_CASE("Ctrl-C while a card is on its way out waits for it, and plugs it in again") {
  Scene scene;
  scene.here->with([](auto& state) { state.holds = true; });
  std::thread operator_at_work([&scene] {
    wait_for(*scene.here, "device_del hca0");
    scene.stop.store(true);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    scene.here->give_up("hca0");
  });
  const auto report = scene.run();
  operator_at_work.join();
  CHECK(report.end.code == 130);
  CHECK(Scene::log_of(*scene.here) ==
        Log{"prepare", "device_del hca0", "device_add hca0", "return"});
  CHECK(scene.cards_here() == 2);
}

TEST_CASE("Ctrl-C in a migration keeps the monitor, for which another client may wait") {
  Scene scene;
  scene.here->with([](auto& state) { state.migration_ends = ""; });
  std::thread operator_at_work([&scene] {
    wait_for(*scene.here, "migrate");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    scene.stop.store(true);
  });
  const auto report = scene.run();
  operator_at_work.join();
  CHECK(report.end.code == 130);
  CHECK(Scene::log_of(*scene.here) == then(then(kWayThere, {"migrate_cancel"}), kWayBack));
  CHECK(scene.here->with([](auto& state) { return state.monitors; }) == 1);
}

TEST_CASE("a guest that is too busy for a card to be pulled is asked again") {
  Scene scene;
  scene.here->with([](auto& state) { state.busy = 1; });
  CHECK(scene.run().end.code == 0);
  CHECK(Scene::log_of(*scene.here) == kWayThere);
}

TEST_CASE("the processes in the guest that keep a card are named, if the guest can tell") {
  for (const std::string holders :
       {"ibv_asyncwatch (pid 12, /dev/infiniband/uverbs0)\n\x1b[31mperf (pid 13)\n", ""}) {
    Scene scene;
    scene.request.timeout = 3 * kSecond;
    scene.here->with([&holders](auto& state) {
      state.holds = true;
      state.holders = holders;
    });
    const auto report = scene.run();
    CHECK(report.end.code == 5);
    const std::string text =
        "; in the guest these have an RDMA device open: ibv_asyncwatch (pid 12, "
        "/dev/infiniband/uverbs0),  [31mperf (pid 13);";
    CHECK((report.end.text.find(text) != std::string::npos) == !holders.empty());
    CHECK((report.end.text.find("in the guest these") == std::string::npos) == holders.empty());
    CHECK(Scene::log_of(*scene.here) == Log{"prepare", "device_del hca0", "return"});
  }
  MachinePair pair;
  pair.request.timeout = 3 * kSecond;
  pair.machines[1]->with([](auto& state) {
    state.holds = true;
    for (int pid = 1; pid < 9; ++pid) state.holders += "perf (pid " + std::to_string(pid) + ")\n";
  });
  const auto report = pair.snapshot();
  CHECK(report.end.text.find("RDMA device open: perf (pid 1), ") != std::string::npos);
  CHECK(report.end.text.find(", perf (pid 5) and 3 more") != std::string::npos);
  CHECK(report.end.text.find("pid 6") == std::string::npos);
}

TEST_CASE(
    "a card that is kept, and that the job has lost nevertheless: it is said, not waited for") {
  Scene scene;
  scene.request.timeout = 3 * kSecond;
  scene.here->with([](auto& state) {
    state.holds = true;
    state.not_yet["return"] = 1;
  });
  const auto report = scene.run();
  CHECK(report.end.code == 5);
  CHECK(
      report.end.text.find("; taken back: the guest runs on here, but its job stays on another") !=
      std::string::npos);
  REQUIRE(report.end.left.size() == 1);
  CHECK(report.end.left[0].find("rank 0: verbs: no device") != std::string::npos);
  CHECK(Scene::log_of(*scene.here) == Log{"prepare", "device_del hca0", "return"});
}

TEST_CASE("a card that QEMU refuses to pull: its words are told, and the other comes back") {
  Scene scene;
  scene.here->with([](auto& state) { state.fixed = {"hca1"}; });
  const auto report = scene.run();
  CHECK(report.end.code == 5);
  CHECK(report.end.text.find(
            "QEMU refuses device_del: Bus 'pcie.0' does not support hotplugging") == 0);
  CHECK(report.end.left.empty());
  CHECK(Scene::log_of(*scene.here) ==
        Log{"prepare", "device_del hca0", "device_add hca0", "return"});
  CHECK(scene.cards_here() == 2);
  CHECK(scene.here->with([](auto& state) { return state.objects.empty(); }));
}

TEST_CASE("what is needed later is asked before anything is touched") {
  Scene nobody;
  nobody.there.reset();
  CHECK(nobody.run().end.code == 2);
  CHECK(Scene::log_of(*nobody.here).empty());
  Scene other;
  other.there->with([](auto& state) { state.status = "running"; });
  const auto report = other.run();
  CHECK(report.end.code == 3);
  CHECK(report.end.text.find("-incoming") != std::string::npos);
  CHECK(Scene::log_of(*other.here).empty());
  Scene mute;
  mute.here->with([](auto& state) { state.has_name = false; });
  CHECK(mute.run().end.code == 3);
  CHECK(Scene::log_of(*mute.here).empty());
}

TEST_CASE("a migration that QEMU has not quite ended: failed, or completed") {
  Scene failed;
  failed.here->with([](auto& state) {
    state.migration_ends = "failed";
    state.finishes = 3;
  });
  CHECK(failed.run().end.code == 5);
  CHECK(Scene::log_of(*failed.here) == then(kWayThere, kWayBack));
  Scene completed;
  completed.here->with([](auto& state) {  // as left by a call that was killed at the end
    for (const auto& [id, arguments] : state.cards)
      state.objects["livebtl-" + id] = arguments.dump();
    state.cards.clear();
    state.migration = "completed";
    state.status = "finish-migrate";
  });
  completed.there->with([](auto& state) { state.status = "paused"; });
  const auto report = completed.run();
  CHECK(report.end.code == 0);
  CHECK(report.details["moved"]);
  CHECK(Scene::log_of(*completed.here).empty());
}

TEST_CASE("a guest that a killed vm snapshot has saved has not moved") {
  Scene scene;
  scene.here->with([](auto& state) {
    state.objects["livebtl.hold"] = R"({"hold":"0x7"})";
    for (const auto& [id, arguments] : state.cards)
      state.objects["livebtl-" + id] = arguments.dump();
    state.cards.clear();
    state.migration = "completed";
    state.status = "postmigrate";
  });
  const auto report = scene.run();
  CHECK(report.end.code == 3);
  CHECK_FALSE(report.details["moved"]);
  CHECK(report.end.text.find("vm snapshot again") != std::string::npos);
  CHECK(Scene::log_of(*scene.here).empty());
  CHECK(Scene::log_of(*scene.there).empty());
}

TEST_CASE("an agent that starts to talk nonsense lets nothing move") {
  Scene scene;
  scene.here->with([](auto& state) { state.garbles = "prepare"; });
  const auto report = scene.run();
  CHECK(report.end.code == 5);
  CHECK(Scene::log_of(*scene.here) == Log{"return"});
}

TEST_CASE("a plan says what would be refused") {
  Scene scene;
  scene.request.dry_run = true;
  scene.here->with([](auto& state) { state.status = "paused"; });
  const auto report = scene.run();
  CHECK(report.end.code == 3);
  CHECK(report.plan.empty());
}
