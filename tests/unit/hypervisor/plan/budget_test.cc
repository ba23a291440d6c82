// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/plan/budget_test.cc -- --timeout bounds a whole command, whatever does not
// answer: how it is divided, with made-up times; and whole commands, of six seconds.
#include "hypervisor/plan/steps.h"

#include "hypervisor/snapshot/snapshot_machine.h"
#include "hypervisor/snapshot/snapshot_steps.h"
#include "tests/unit/hypervisor/migrate/migrate_scene.h"
#include "tests/unit/hypervisor/set/machine_pair.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

constexpr TimeNs kTimeout = 6 * kSecond;
// The least that a step without that bound would wait; no machine is this busy.
constexpr TimeNs kMuchLonger = 60 * kSecond;

/// Checks how long it took, which was not too short either.
template <class Act>
void takes_its_time(const Act& act) {
  const TimeNs begun = monotonic_now();
  act();
  const TimeNs took = monotonic_now() - begun;
  CHECK(took >= Budget::way_there(kTimeout));
  CHECK(took < kMuchLonger);
}

struct WatchedSnapshot : SnapshotSteps {
  using SnapshotSteps::diagnosis;
  using SnapshotSteps::SnapshotSteps;

  /// Has the time kept for the way back begun? If not, a call much later still has its third.
  bool is_on_its_way_back() const {
    constexpr TimeNs kLater = 3600 * kSecond;
    Budget budget = budget_;
    return budget.afterwards(monotonic_now() + kLater) < monotonic_now() + kLater;
  }
};

}  // namespace

TEST_CASE("two thirds are for the way there, and what is left of it for what comes afterwards") {
  Budget budget(1000, 900);
  CHECK(budget.there() == 1600);
  CHECK(budget.afterwards(1010) == 1900);
  CHECK(budget.afterwards(1800) == 1900);  // it begins only once
  CHECK(Budget(1000, 900).afterwards(1600) == 1900);
}

TEST_CASE("a third is kept even for a command that stood still itself") {
  Budget late(1000, 900);
  CHECK(late.afterwards(5000) == 5300);
  CHECK(late.afterwards(5200) == 5300);
}

TEST_CASE("a cause is looked for with little of what is left, and that does not begin the rest") {
  Budget budget(0, 90 * kSecond);
  CHECK(budget.diagnosis(10 * kSecond) == 20 * kSecond);
  CHECK(budget.diagnosis(70 * kSecond) == 77500 * kMillisecond);  // its third is 30 s
  CHECK(budget.afterwards(200 * kSecond) == 230 * kSecond);
  CHECK(budget.diagnosis(222 * kSecond) == 224 * kSecond);
  CHECK(budget.diagnosis(240 * kSecond) == 240 * kSecond);
}

TEST_CASE("a guest is asked with the time that there is, and not waited for much longer") {
  const TimeNs now = monotonic_now();
  const Tries plenty = tries_until(now + 600 * kSecond, true);
  CHECK(plenty.each == kPrepareMax);
  CHECK(plenty.until >= now + kCardMax);
  CHECK(plenty.until <= monotonic_now() + kCardMax);
  CHECK(plenty.end == now + 600 * kSecond + kAgentGrace);
  const Tries none = tries_until(now - kSecond, true);
  CHECK(none.each == kSecond);
  CHECK(none.until == now - kSecond);
  CHECK(none.end == now - kSecond + kAgentGrace);
  ScriptedPeer peer;
  SocketAgent mute([&peer](const Deadline&) -> Result<JsonLineSocket> { return peer.socket(); });
  const auto said = give_order(mute, {}, GuestOrder::kReturn, {600 * kSecond, now, true, now});
  REQUIRE_FALSE(said);
  CHECK(said.error().code == Errc::kTimeout);
  CHECK(monotonic_now() - now < kMuchLonger);
}

TEST_CASE("a migration that is taken back ends in time, whatever QEMU does not answer") {
  for (const std::string mute : {"device_add", "migrate_cancel"}) {
    CAPTURE(mute);
    Scene scene;
    scene.request.timeout = kTimeout;
    scene.here->with([&mute](auto& state) {
      state.migration_ends = mute == "migrate_cancel" ? "" : "failed";
      state.unanswered = {mute};
    });
    takes_its_time([&scene] { CHECK(scene.run().end.code == kCodeUnfinished); });
  }
}

TEST_CASE("a guest that has moved is waited for no longer than that") {
  Scene scene;
  scene.request.timeout = kTimeout;
  scene.there->with([](auto& state) { state.unanswered = {"device_add"}; });
  takes_its_time([&scene] { CHECK(scene.run().end.code == kCodeNotReturned); });
}

TEST_CASE("the way back of a snapshot has its third, however late that begins") {
  for (const bool clearing : {false, true}) {
    MachinePair pair;
    if (clearing)
      pair.both([](auto& state) { state.objects["livebtl.hold"] = R"({"hold":"0x7"})"; });
    WatchedSnapshot steps(pair.request, pair.stop, [](const std::string&) {});
    SnapshotMachine machine({{"vm1", {"hca"}}, {"vm2", {"hca"}}});
    std::size_t gone_on = 0;
    while (machine.next().step != Step::kCheck && machine.next().step != Step::kEnd) {
      if (machine.next().step == Step::kGoOn) ++gone_on;
      machine.answer(steps.perform(machine.next()));
      CHECK_FALSE(steps.is_on_its_way_back());
    }
    CHECK(gone_on == (clearing ? 4 : 2));
    machine.answer({Outcome::kFailed, kCodeInconsistent, "its lease ran out"});
    REQUIRE(machine.next().step == Step::kEndHold);
    machine.answer(steps.perform(machine.next()));
    CHECK(steps.is_on_its_way_back());
  }
}

TEST_CASE("what keeps a card is asked for with little of the time that is left") {
  MachinePair pair;
  WatchedSnapshot steps(pair.request, pair.stop, [](const std::string&) {});
  const TimeNs before = monotonic_now();
  const Deadline deadline = steps.diagnosis();
  CHECK(deadline.at >= before + kDiagnosisMax);
  CHECK(deadline.at <= monotonic_now() + kDiagnosisMax);
  CHECK_FALSE(steps.is_on_its_way_back());
}

TEST_CASE("a snapshot and a restore end in time, whatever QEMU does not answer") {
  MachinePair pair;
  pair.request.timeout = kTimeout;
  pair.machines[1]->with([](auto& state) { state.unanswered = {"device_add"}; });
  takes_its_time([&pair] { CHECK(pair.snapshot().end.code == kCodeNotReturned); });
  pair.start("inmigrate");
  pair.machines[1]->with([](auto& state) { state.unanswered = {"cont"}; });
  takes_its_time([&pair] { CHECK(pair.restore().end.code == kCodeUnfinished); });
  pair.both([](auto& state) { CHECK(state.status != "running"); });  // a third was left for that
}
