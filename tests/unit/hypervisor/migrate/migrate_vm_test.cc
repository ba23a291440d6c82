// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/migrate/migrate_vm_test.cc -- a whole migration over sockets, between two
// played machines.
#include "tests/unit/hypervisor/migrate/migrate_scene.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

TEST_CASE("a guest moves, and its cards are plugged in there") {
  for (const By by : kBoth) {
    CAPTURE(static_cast<int>(by));
    Scene scene(by);
    const auto report = scene.run();
    CHECK(report.end.code == 0);
    CHECK(report.details["moved"]);
    CHECK(Scene::log_of(*scene.here) == kWayThere);
    CHECK(Scene::log_of(*scene.there) == then(scene.arrival(), kWayBack));
    const Json document = report_json(report);
    CHECK(document["schema"] == "livebtl.vm/1");
    CHECK(document["migration"]["downtime-ms"] == 3);
    CHECK(document["phases"].size() == 10);
    CHECK(document["cards"][1]["id"] == "hca1");
    // A repeated call finds everything done.
    CHECK(scene.run().end.code == 0);
    CHECK(Scene::log_of(*scene.here) == kWayThere);
    CHECK(Scene::log_of(*scene.there) == then(then(scene.arrival(), kWayBack), {"return"}));
  }
}

TEST_CASE("a failed migration is taken back, with nothing left behind in QEMU") {
  for (const By by : kBoth) {
    CAPTURE(static_cast<int>(by));
    Scene scene(by);
    scene.here->with([](auto& state) { state.migration_ends = "failed"; });
    const auto report = scene.run();
    CHECK(report.end.code == 5);
    CHECK(Scene::log_of(*scene.here) == then(kWayThere, kWayBack));
    CHECK(scene.cards_here() == 2);
    CHECK(scene.here->with([](auto& state) { return state.objects.empty(); }));
    CHECK(Scene::log_of(*scene.there).empty());
  }
}

TEST_CASE(
    "shared memory, which QEMU does not survive to get twice, is left to be plugged in by hand") {
  Scene scene;
  scene.here->with([](auto& state) {
    state.migration_ends = "failed";
    state.refused = {"device_add"};  // it must not be called
    state.objects["memory0"] = "";
    state.lingers = 3;
  });
  scene.request.cards = {"hca1"};
  scene.request.card_arguments = {
      {{"driver", "ivshmem-plain"}, {"id", "hca1"}, {"bus", "port"}, {"memdev", "memory0"}}};
  const auto report = scene.run();
  CHECK(report.end.code == 4);
  REQUIRE(report.end.left.size() == 1);
  CHECK(report.end.left[0].find("object-add") != std::string::npos);
  // A remainder would be sent along, and the destination would not know it.
  CHECK_FALSE(scene.here->with([](auto& state) { return state.objects.contains("memory0"); }));
  CHECK(scene.here->with([](auto& state) { return state.lingers; }) == 0);
  CHECK(Scene::log_of(*scene.here) == Log{"prepare", "device_del hca1", "migrate", "return"});
}

TEST_CASE("memory that QEMU does not free: it is told where to look") {
  Scene scene;
  scene.request.timeout = 3 * kSecond;
  scene.here->with([](auto& state) { state.lingers = 1'000'000; });
  scene.request.cards = {"hca1"};
  scene.request.card_arguments = {
      {{"driver", "ivshmem-plain"}, {"id", "hca1"}, {"bus", "port"}, {"memdev", "memory0"}}};
  const auto report = scene.run();
  CHECK(report.end.code == 4);
  CHECK(report.end.text.find("info ramblock") != std::string::npos);
  CHECK(report.end.text.find("memdev") != std::string::npos);
}

TEST_CASE("a device that the guest's job cannot leave is not detached") {
  for (const By by : kBoth) {
    CAPTURE(static_cast<int>(by));
    Scene scene(by);
    scene.here->with([](auto& state) { state.guest_codes["prepare"] = 7; });
    const auto report = scene.run();
    CHECK(report.end.code == 7);
    CHECK(report.end.text.find("prepare said") != std::string::npos);
    CHECK(Scene::log_of(*scene.here) == Log{"prepare", "return"});
  }
}

TEST_CASE("a call after one that was killed finds the cards, and how to plug them in") {
  for (const By by : kBoth) {
    CAPTURE(static_cast<int>(by));
    Scene scene(by);
    scene.pull("hca0");  // as left by a call that was killed after the first card
    scene.here->with([](auto& state) { state.refused = {"migrate"}; });
    const auto report = scene.run();
    CHECK(report.end.code == 5);
    CHECK(Scene::log_of(*scene.here) == then({"prepare", "device_del hca1"}, kWayBack));
    CHECK(scene.cards_here() == 2);
  }
}

TEST_CASE("a card of which nothing is known stops it before it begins") {
  for (const By by : kBoth) {
    CAPTURE(static_cast<int>(by));
    Scene scene(by);
    scene.request.cards = {"hca0", "hca7"};
    const auto report = scene.run();
    CHECK(report.end.code == 2);
    CHECK(report.end.text.find("hca7") != std::string::npos);
    CHECK(Scene::log_of(*scene.here).empty());
  }
}

TEST_CASE("a migration without end is cancelled when its time is up") {
  for (const By by : kBoth) {
    CAPTURE(static_cast<int>(by));
    Scene scene(by);
    scene.here->with([](auto& state) { state.migration_ends = ""; });
    scene.request.timeout = 6 * kSecond;  // a third is for the way back, even under a sanitizer
    const auto report = scene.run();
    CHECK(report.end.code == 5);
    CHECK(Scene::log_of(*scene.here) == then(then(kWayThere, {"migrate_cancel"}), kWayBack));
  }
}

TEST_CASE("what fails at the destination leaves the job where it is") {
  for (const By by : kBoth) {
    CAPTURE(static_cast<int>(by));
    Scene scene(by);
    scene.there->with([](auto& state) { state.refused = {"device_add"}; });
    const auto report = scene.run();
    CHECK(report.end.code == 6);
    CHECK(report.details["moved"]);
    CHECK(Scene::log_of(*scene.here) == kWayThere);
    CHECK(Scene::log_of(*scene.there) == scene.arrival());
  }
}

TEST_CASE("interrupted before it begins it changes nothing; a plan alone neither") {
  Scene scene;
  scene.stop.store(true);
  CHECK(scene.run().end.code == 130);
  scene.stop.store(false);
  scene.request.dry_run = true;
  const auto report = scene.run();
  CHECK(report.end.code == 0);
  REQUIRE(report.plan.size() == 14);
  CHECK(report.plan[1].find("unplug hca0: device_del hca0") == 0);
  CHECK(report.plan[0].find("--scope node:vm1") != std::string::npos);
  CHECK(report.plan[6].find(R"({"bus":"port","driver":"vfio-pci","id":"hca0"})") !=
        std::string::npos);
  CHECK(Scene::log_of(*scene.here).empty());
  CHECK(scene.here->with([](auto& state) { return state.objects.empty(); }));
}
