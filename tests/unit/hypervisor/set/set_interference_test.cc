// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/set/set_interference_test.cc -- what guests, their agents, other users and
// kills do to snapshots and restores, over sockets and files.
#include "tests/unit/hypervisor/set/machine_pair.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

using Log = std::vector<std::string>;

}  // namespace

TEST_CASE("a job that runs is not stopped by a call with another set") {
  MachinePair pair;
  pair.snapshot();
  pair.start("inmigrate");
  CHECK(pair.restore().end.code == 0);
  pair.machines[0]->with([](auto& state) { state.guest_codes["job restored"] = 8; });
  pair.log(0);
  const auto report = pair.restore();
  CHECK(report.end.code == 8);
  CHECK(report.end.text.find("not of this set") != std::string::npos);
  CHECK(pair.log(0) == Log{"job restored"});
  pair.both([](auto& state) { CHECK(state.status == "running"); });
}

TEST_CASE("a set with a file that others may write to is not loaded") {
  MachinePair pair;
  pair.snapshot();
  pair.start("inmigrate");
  std::filesystem::permissions(pair.request.directory + "/vm1.ram",
                               std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  CHECK(pair.restore().end.code == 9);
  CHECK(pair.log(0).empty());
}

TEST_CASE("a set is finished by the call that repeats its own, and by no other") {
  MachinePair pair;
  const std::string hold = pair.snapshot().details["hold"];
  const auto killed = [&pair](const std::string& of) {
    pair.machines[1]->with([&of](auto& state) {
      state.objects["livebtl.hold"] = Json{{"hold", of}}.dump();
      state.objects["livebtl.bandwidth"] = R"({"max-bandwidth":7})";
      state.objects["livebtl-hca"] = state.cards["hca"].dump();
      state.cards.clear();
    });
    pair.log(0);
    pair.log(1);
    return pair.snapshot();
  };
  CHECK(killed("0x7").end.code == 3);
  CHECK(pair.log(1).empty());
  pair.machines[1]->with(
      [](auto& state) { state.cards["hca"] = Json::parse(state.objects["livebtl-hca"]); });
  const auto report = killed(hold);
  CHECK(report.end.code == 0);
  CHECK(report.end.text == "this set is whole already");
  CHECK(pair.log(0) == Log{"hold end", "return"});
  CHECK(pair.log(1) == Log{"device_add hca"});
  pair.is_as_before();
}

TEST_CASE("the limit that migrations had outlives a call that is killed between two notes") {
  MachinePair pair;
  pair.both([](auto& state) {  // the old hold's note is gone, the new one's not there yet
    state.objects["livebtl.bandwidth"] = R"({"max-bandwidth":7})";
    state.bandwidth = std::uint64_t{1} << 40U;
  });
  CHECK(pair.snapshot().end.code == 0);
  pair.is_as_before();
  MachinePair refusing;
  refusing.machines[0]->with([](auto& state) { state.refused = {"object-add"}; });
  CHECK(refusing.snapshot().end.code == 5);
  refusing.is_as_before();  // no limit was lifted that could not be noted
}

TEST_CASE("what an agent garbles after the first look is taken back") {
  for (const char* order : {"prepare", "hold start", "hold renew", "hold check"}) {
    CAPTURE(order);
    MachinePair pair;
    pair.machines[0]->with([order](auto& state) { state.garbles = order; });
    CHECK(pair.snapshot().end.code == 5);
    pair.is_as_before();
  }
  MachinePair pair;
  pair.snapshot();
  pair.start("inmigrate");
  pair.machines[0]->with([](auto& state) { state.garbles = "job restored"; });
  CHECK(pair.restore().end.code == 5);
}

TEST_CASE("a hold that cannot be ended is named, and the next call ends it") {
  MachinePair pair;
  pair.machines[0]->with([](auto& state) { state.guest_codes["hold end"] = 5; });
  const auto report = pair.snapshot();
  CHECK(report.end.code == 6);
  REQUIRE(report.end.left.size() == 1);
  CHECK(report.end.left[0].find("in the guest vm1: btlctl hold end --id " +
                                report.details["hold"].get<std::string>()) != std::string::npos);
  pair.both([](auto& state) { CHECK(state.objects.contains("livebtl.hold")); });
  pair.machines[0]->with([](auto& state) { state.guest_codes.clear(); });
  pair.log(0);
  CHECK(pair.snapshot().end.code == 0);
  CHECK(pair.log(0) == Log{"hold end", "return"});
  pair.is_as_before();
}

TEST_CASE("a card that the guest gives up after its time is named, and the next call plugs it in") {
  for (const bool by_libvirt : {false, true}) {
    CAPTURE(by_libvirt);
    PlayedLibvirt played;
    MachinePair pair(by_libvirt ? &played : nullptr);
    pair.request.timeout = 3 * kSecond;
    pair.machines[0]->with([](auto& state) { state.holds = true; });
    const auto report = pair.snapshot();
    CHECK(report.end.code == 4);
    REQUIRE(report.end.left.size() == 1);
    CHECK(report.end.left[0].find("plug card hca of vm1: it is still there") == 0);
    CHECK(report.end.left[0].find("vfio-pci") != std::string::npos);
    pair.machines[0]->give_up("hca");
    pair.machines[0]->with([](auto& state) {
      CHECK(state.objects.contains("livebtl-hca"));
      CHECK_FALSE(state.objects.contains(kHoldNote));
      state.holds = false;
    });
    pair.request.timeout = 60 * kSecond;
    CHECK(pair.snapshot().end.code == 0);
    pair.is_as_before();
  }
}

TEST_CASE("a directory that cannot be made stops it before a machine is touched") {
  MachinePair pair;
  pair.request.directory += "/monday";
  const auto report = pair.snapshot();
  CHECK(report.end.code == 2);
  CHECK(report.phases.size() == 1);
  CHECK(report.end.text.find("make that first") != std::string::npos);
  CHECK(pair.log(0).empty());
  pair.both([](auto& state) { CHECK(state.monitors == 0); });
}
