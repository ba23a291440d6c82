// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/set/set_vms_test.cc -- whole snapshots and restores of two played machines,
// over sockets and files.
#include "tests/unit/hypervisor/set/machine_pair.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

using Log = std::vector<std::string>;

const Log kFirst = {"prepare",  "device_del hca", "hold start", "stop",
                    "migrate",  "cont",           "hold renew", "hold check",
                    "hold end", "device_add hca", "return"};
const Log kOther = {"device_del hca", "stop", "migrate", "cont", "device_add hca"};

}  // namespace

TEST_CASE("two machines are saved, and what is in the set is what they had") {
  MachinePair pair;
  const auto report = pair.snapshot();
  CHECK(report.end.text == "all machines have been saved, and the set fits together");
  CHECK(report.end.code == 0);
  CHECK(pair.log(0) == kFirst);
  CHECK(pair.log(1) == kOther);
  CHECK(pair.file("vm1.ram") == "the memory of vm1");
  CHECK(pair.file("vm2.ram") == "the memory of vm2");
  const auto set = read_set(pair.file("set.json"));
  REQUIRE(set);
  CHECK(report.details["hold"] == set->hold);
  CHECK(set->members == 4);
  CHECK(set->machines[1].bytes == 17);
  CHECK(set->machines[1].cards[0]["driver"] == "vfio-pci");
  pair.is_as_before();
  const Json document = report_json(report);
  CHECK(document["schema"] == "livebtl.vm/1");
  CHECK(document["verb"] == "vm snapshot");
  CHECK(document["phases"][3]["of"] == "card hca of vm1");
  const auto again = pair.snapshot();
  CHECK(again.end.code == 3);  // it is already there, and no call was killed
  CHECK(again.end.text.find(pair.request.directory + " holds a whole set already, taken at " +
                            set->taken) == 0);
  CHECK(pair.log(0).empty());
}

TEST_CASE("a set is restored into machines that wait for it") {
  MachinePair pair;
  const std::string hold = pair.snapshot().details["hold"];
  pair.start("inmigrate");
  const auto report = pair.restore();
  CHECK(report.end.text == "the set is restored, and its job runs on");
  CHECK(report.end.code == 0);
  CHECK(report.details["hold"] == hold);
  const Log first = {"migrate-incoming", "cont", "job restored", "device_add hca", "return"};
  CHECK(pair.log(0) == first);
  CHECK(pair.log(1) == Log{"migrate-incoming", "cont", "device_add hca"});
  CHECK(pair.machines[1]->with([](auto& state) { return state.memory; }) == "the memory of vm2");
  CHECK(pair.restore().end.code == 0);  // again
  CHECK(pair.log(0) == Log{"job restored", "return"});
}

TEST_CASE("a set that does not fit together is stopped again") {
  MachinePair pair;
  pair.snapshot();
  pair.start("inmigrate");
  pair.machines[0]->with([](auto& state) { state.guest_codes["job restored"] = 8; });
  const auto report = pair.restore();
  CHECK(report.end.code == 8);
  CHECK(report.end.text.find("job restored said") != std::string::npos);
  pair.both([](auto& state) {
    CHECK(state.status == "paused");
    CHECK(state.cards.empty());
  });
}

TEST_CASE("what is no set is not loaded, and no QEMU that does not wait") {
  MachinePair pair;
  pair.request.machines[0].cards.clear();
  pair.request.machines[1].cards.clear();
  CHECK(pair.restore().end.code == 2);  // no such directory
  std::filesystem::create_directory(pair.request.directory);
  std::filesystem::permissions(pair.request.directory, std::filesystem::perms::owner_all);
  CHECK(pair.restore().end.code == 8);
  CHECK(pair.snapshot().end.code == 0);
  pair.log(0);
  const auto report = pair.restore();  // these still run, and have just been migrated to a file
  CHECK(report.end.code == 3);
  CHECK(report.end.text.find("-incoming") != std::string::npos);
  CHECK(pair.log(0).empty());
}

TEST_CASE("a machine that was started with its card cannot take what was saved without it") {
  MachinePair pair;
  pair.snapshot();
  pair.start("inmigrate");
  pair.machines[1]->with([](auto& state) { state.cards["hca"] = {{"driver", "vfio-pci"}}; });
  CHECK(pair.restore().end.code == 3);
  CHECK(pair.log(0).empty());
}

TEST_CASE("a snapshot that fails is taken back, and leaves no file") {
  MachinePair pair;
  pair.machines[1]->with([](auto& state) { state.migration_ends = "failed"; });
  const auto report = pair.snapshot();
  CHECK(report.end.code == 5);
  CHECK(report.end.text.find("vm2: the migration ended as 'failed'") == 0);
  CHECK_FALSE(std::filesystem::exists(pair.request.directory));
  CHECK(pair.log(1) == kOther);
  pair.is_as_before();
}

TEST_CASE("a job that was not held throughout makes no set") {
  for (const char* order : {"hold renew", "hold check"}) {
    MachinePair pair;
    pair.machines[0]->with([order](auto& state) { state.guest_codes[order] = 8; });
    const auto report = pair.snapshot();
    CHECK(report.end.code == 8);
    CHECK_FALSE(std::filesystem::exists(pair.request.directory));
    pair.is_as_before();
  }
}

TEST_CASE(
    "a machine that cannot be saved since the hold's lease ran out: it is the lease that is told") {
  MachinePair pair;
  pair.machines[0]->with([](auto& state) { state.guest_codes["hold check"] = 8; });
  pair.machines[1]->with([](auto& state) { state.migration_ends = "failed"; });
  const auto report = pair.snapshot();
  CHECK(report.end.code == 8);
  CHECK(report.end.text.find("the hold was broken: in the guest vm1: hold check said") == 0);
  CHECK(report.end.text.find("vm2: the migration ended as 'failed'") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(pair.request.directory));
  pair.is_as_before();
}

TEST_CASE("a guest with a writable disk is refused, unless its disks are looked after") {
  MachinePair pair;
  pair.machines[1]->with([](auto& state) { state.writable_disk = true; });
  const auto report = pair.snapshot();
  CHECK(report.end.code == 3);
  CHECK(report.end.text.find("disk0") != std::string::npos);
  CHECK(pair.log(0).empty());
  pair.request.ignores_disks = true;
  CHECK(pair.snapshot().end.code == 0);
}

TEST_CASE("another client's migration is left alone, and a guest that stands still") {
  MachinePair migrating;
  migrating.machines[1]->with([](auto& state) { state.migration = "active"; });
  CHECK(migrating.snapshot().end.code == 3);
  CHECK(migrating.log(1).empty());
  MachinePair still;
  still.machines[1]->with([](auto& state) { state.status = "paused"; });
  CHECK(still.snapshot().end.code == 3);
  CHECK(still.log(0).empty());
  MachinePair moved;
  moved.machines[1]->with([](auto& state) {
    state.status = "postmigrate";
    state.migration = "completed";
  });
  const auto report = moved.snapshot();
  CHECK(report.end.code == 3);
  CHECK(report.end.text.find("migrated or saved by somebody else") != std::string::npos);
}

TEST_CASE("what a killed call has left is resolved first") {
  MachinePair pair;
  pair.both([](auto& state) {  // as left by a call that was killed while it saved the first
    state.objects["livebtl.hold"] = R"({"hold":"0x7"})";
    state.objects["livebtl.bandwidth"] = R"({"max-bandwidth":7})";
    state.objects["livebtl-hca"] = state.cards["hca"].dump();
    state.cards.clear();
    state.bandwidth = 99;
  });
  pair.machines[0]->with([](auto& state) {
    state.status = "paused";
    state.migration = "active";
  });
  std::filesystem::create_directory(pair.request.directory);
  std::filesystem::permissions(pair.request.directory, std::filesystem::perms::owner_all);
  std::ofstream(pair.request.directory + "/vm1.ram") << "half of it";
  const auto report = pair.snapshot();
  CHECK(report.end.text == "all machines have been saved, and the set fits together");
  CHECK(report.details["hold"] != "0x7");
  const Log log = pair.log(0);
  REQUIRE(log.size() > 4);
  CHECK(Log(log.begin(), log.begin() + 4) == Log{"migrate_cancel", "cont", "hold end", "prepare"});
  CHECK(pair.file("vm1.ram") == "the memory of vm1");
  pair.is_as_before();
}

TEST_CASE("what lies in a directory that is not ours is not touched") {
  MachinePair pair;
  std::filesystem::create_directory(pair.request.directory);
  std::filesystem::permissions(pair.request.directory, std::filesystem::perms::owner_all);
  std::ofstream(pair.request.directory + "/letter") << "dear";
  CHECK(pair.snapshot().end.code == 3);
  CHECK(pair.log(0).empty());
  CHECK(pair.file("letter") == "dear");
}

TEST_CASE("interrupted before it begins it changes nothing; a plan alone neither") {
  MachinePair pair;
  pair.stop.store(true);
  CHECK(pair.snapshot().end.code == 130);
  pair.stop.store(false);
  pair.request.dry_run = true;
  const auto report = pair.snapshot();
  CHECK(report.end.code == 0);
  CHECK(report.plan.size() == 26);
  CHECK(report.plan[2] ==
        "unplug card hca of vm1: device_del hca, and wait up to 40 s until it is gone");
  CHECK_FALSE(std::filesystem::exists(pair.request.directory));
  pair.request.dry_run = false;
  pair.snapshot();
  pair.start("inmigrate");
  pair.request.dry_run = true;
  const auto back = pair.restore();
  CHECK(back.plan.size() == 11);
  CHECK(back.plan[4].find("job restored --id ") != std::string::npos);
  CHECK(pair.log(0).empty());
}
