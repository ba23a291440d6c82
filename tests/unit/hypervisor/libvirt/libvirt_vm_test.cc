// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/libvirt/libvirt_vm_test.cc -- what only libvirt does to a migration or a
// set: daemons that go and come back, calls that are killed midway, aliases, notes that travel.
// libvirt is played; what it shares with QMP is tested there (migrate_vm_test.cc).
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <tuple>

#include "base/fd.h"
#include "tests/unit/hypervisor/migrate/migrate_scene.h"
#include "tests/unit/hypervisor/set/machine_pair.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

/// Makes it fail once both ends have begun. The daemon there keeps its half, or removes it late.
std::thread fail_the_migration(Scene& scene, bool half_stays) {
  scene.here->with([](auto& state) { state.migration_ends = ""; });
  return std::thread([&scene, half_stays] {
    while (scene.here->with([](auto& state) { return state.migration != "active"; }))
      std::this_thread::yield();
    scene.there->with([](auto& state) { state.status = "paused"; });
    scene.here->with([](auto& state) { state.migration = "failed"; });
    while (!half_stays && Scene::log_of(*scene.here) != then(kWayThere, kWayBack))
      std::this_thread::yield();
    if (!half_stays) scene.there->with([](auto& state) { state.status = "shutdown"; });
  });
}

}  // namespace

TEST_CASE(
    "a call after one that was killed finds the guest moved, and its cards by the notes that went "
    "along") {
  Scene scene(By::kLibvirt);
  for (const char* card : {"hca0", "hca1"}) scene.pull(card);
  const auto notes = scene.here->with([](auto& state) {
    state.status = "postmigrate";
    return std::exchange(state.objects, {});
  });
  scene.there->with([&notes](auto& state) {
    state.status = "running";
    state.objects = notes;
  });
  const auto report = scene.run();
  CHECK(report.end.code == 0);
  CHECK(Scene::log_of(*scene.here).empty());
  CHECK(Scene::log_of(*scene.there) == kWayBack);
  CHECK(scene.there->with([](auto& state) { return state.objects.empty(); }));
}

TEST_CASE(
    "a daemon that crashes in mid-migration and comes back: taken back by what the domain says") {
  Scene scene(By::kLibvirt);
  scene.here->with([](auto& state) { state.migration_ends = ""; });
  std::thread daemon([&scene] {
    while (scene.here->with([](auto& state) { return state.migration != "active"; }))
      std::this_thread::yield();
    scene.played.crash(kHere);
    while (scene.played.find(kHere)->missed.load() == 0) std::this_thread::yield();
    scene.here->with([](auto& state) { state.migration = "cancelled"; });
    scene.played.add(kHere, *scene.here);
  });
  const auto report = scene.run();
  daemon.join();
  CHECK(report.end.code == 5);
  CHECK(Scene::log_of(*scene.here) == then(kWayThere, kWayBack));
  CHECK(scene.cards_here() == 2);
}

TEST_CASE(
    "a half that the other daemon does not take away is named; one that it does take away is "
    "waited for") {
  for (const auto& [stays, has_job, returns] : {std::tuple{true, true, true},
                                                {false, true, true},
                                                {true, false, true},
                                                {true, true, false}}) {
    Scene scene(By::kLibvirt);
    scene.here->with([has_job = has_job, returns = returns](auto& state) {
      if (!has_job) state.guest_codes = {{"prepare", 2}, {"return", 2}};
      if (!returns) state.guest_codes = {{"return", 7}};
    });
    scene.request.timeout = 15 * kSecond;  // bounds how long the daemon is waited for
    std::thread daemons = fail_the_migration(scene, stays);
    const auto report = scene.run();
    daemons.join();
    CHECK(report.end.code == (returns ? 5 : 4));
    REQUIRE(report.end.left.size() == (stays ? 1U : 0U) + (returns ? 0U : 1U));
    if (stays)
      CHECK(report.end.left.back().starts_with(std::string("virsh -c ") + kThere + " destroy "));
    CHECK((report.end.text.find("keeps its half") != std::string::npos) == (stays && returns));
    CHECK(scene.cards_here() == 2);
  }
}

TEST_CASE(
    "a migration that succeeds in the middle of a look is not taken for one that was given up") {
  Scene scene(By::kLibvirt);
  scene.here->with([](auto& state) { state.migration_ends = ""; });
  scene.played.find(kHere)->succeeds_in_look.store(2);  // the first look shows that it has begun
  const auto there = scene.hypervisor->reach(scene.request.destination, nullptr);
  const auto here = scene.hypervisor->reach(scene.request.source, there.get());
  const Deadline deadline{monotonic_now() + 60 * kSecond};
  REQUIRE(here->begin_migration(kThere, {}, deadline));
  MigrationState state;
  REQUIRE(here->follow_migration(
      deadline, [](const std::string&) {}, state));
  CHECK(scene.played.find(kHere)->succeeds_in_look.load() == 0);
  CHECK(state.migration == Migration::kCompleted);
}

TEST_CASE("a write to a daemon that has crashed is an error, and does not end this process") {
  const auto before = std::signal(SIGPIPE, SIG_DFL);
  const Scene scene(By::kLibvirt);
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  const Fd ours(ends[0]);
  { const Fd theirs(ends[1]); }
  CHECK(::write(ours.number(), "x", 1) == -1);
  CHECK(errno == EPIPE);
  std::signal(SIGPIPE, before);
}

TEST_CASE("a destination where the guest's name is taken is refused before anything is touched") {
  Scene scene(By::kLibvirt);
  scene.there->with([](auto& state) { state.status = "running"; });
  const auto report = scene.run();
  CHECK(report.end.code == 3);
  CHECK(report.end.text.find("virsh destroy") != std::string::npos);
  CHECK(Scene::log_of(*scene.here).empty());
}

TEST_CASE("a daemon that is not there: the text names it") {
  Scene scene(By::kLibvirt);
  scene.played.crash(kHere);
  const auto report = scene.run();
  CHECK(report.end.code == 2);
  CHECK(report.end.text.find(kHere) != std::string::npos);
}

TEST_CASE(
    "a daemon that does not answer to a subscription does not hold up the pulling of a card") {
  for (const bool at_its_end : {false, true}) {
    CAPTURE(at_its_end);
    Scene scene(By::kLibvirt);
    auto* const place = scene.played.find(kHere);
    auto& hangs = at_its_end ? place->unsubscribing_hangs : place->subscribing_hangs;
    hangs.store(true);
    // The call would never return if it waited for the daemon.
    std::atomic<bool> pulled{false};
    std::thread daemon([&hangs, &pulled] {
      const TimeNs last = monotonic_now() + 30 * kSecond;
      while (!pulled.load() && monotonic_now() < last)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      hangs.store(false);
    });
    {
      const auto here = scene.hypervisor->reach(scene.request.source, nullptr);
      const Deadline deadline{monotonic_now() + 60 * kSecond};
      const auto card = here->find_card("hca0", {}, "", deadline);
      REQUIRE(card);
      CHECK(here->pull_card(*card, deadline));
      CHECK(hangs.load());
      pulled.store(true);
    }
    daemon.join();
    while (place->unsubscribed.load() < 2) std::this_thread::yield();
    CHECK(scene.cards_here() == 1);
  }
}

TEST_CASE("a card that the guest does not give up is told, and not plugged in again") {
  Scene scene(By::kLibvirt);
  scene.request.timeout = 3 * kSecond;
  scene.here->with([](auto& state) {
    state.holds = true;
    state.holders = "perf (pid 12, /dev/infiniband/uverbs0)\n";
  });
  const auto report = scene.run();
  CHECK(report.end.code == 5);
  CHECK(report.end.text.find("perf (pid 12") != std::string::npos);
  CHECK(Scene::log_of(*scene.here) == Log{"prepare", "device_del hca0", "return"});
}

TEST_CASE("a card on a bus without hot plug: the refusal is told, and no note is left") {
  Scene scene(By::kLibvirt);
  scene.here->with([](auto& state) { state.fixed = {"hca1"}; });
  const auto report = scene.run();
  CHECK(report.end.code == 5);
  CHECK(report.end.text.find("does not support hotplugging") != std::string::npos);
  CHECK(scene.cards_here() == 2);
  CHECK(scene.here->with([](auto& state) { return state.objects.empty(); }));
}

TEST_CASE("a set is saved and restored by libvirt, and nothing is left in the domains") {
  PlayedLibvirt played;
  MachinePair pair(&played);
  CHECK(pair.snapshot().end.code == 0);
  pair.is_as_before();
  CHECK(pair.file("vm1.ram").find("the memory of vm1") == 0);
  pair.start("inmigrate");
  const auto report = pair.restore();
  CHECK(report.end.code == 0);
  pair.both([](auto& state) {
    CHECK(state.status == "running");
    CHECK(state.cards.contains("hca"));
    CHECK_FALSE(state.objects.contains(kHoldNote));
    CHECK_FALSE(state.objects.contains("livebtl-hca"));
  });
  CHECK(pair.machines[1]->with([](auto& state) { return state.memory; }) == "the memory of vm2");
  // A repeated call finds everything done.
  CHECK(pair.restore().end.code == 0);
  // The machines can be saved again.
  for (auto& machine : pair.request.machines) machine.cards = {"hca"};
  pair.request.directory += "-2";
  CHECK(pair.snapshot().end.code == 0);
}

TEST_CASE("a save that libvirt cannot do leaves no set, and all as it was") {
  PlayedLibvirt played;
  MachinePair pair(&played);
  pair.machines[1]->with([](auto& state) { state.migration_ends = "failed"; });
  CHECK(pair.snapshot().end.code == 5);
  CHECK_FALSE(std::filesystem::exists(pair.request.directory));
  pair.is_as_before();
}

TEST_CASE("machines that run, and were not loaded, are not restored over") {
  PlayedLibvirt played;
  MachinePair pair(&played);
  CHECK(pair.snapshot().end.code == 0);
  for (auto& machine : pair.request.machines) machine.cards.clear();
  const auto report = pair.restore();
  CHECK(report.end.code == 3);
  CHECK(report.end.text.find("virsh destroy") != std::string::npos);
  pair.is_as_before();
}
