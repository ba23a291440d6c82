// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/budget_test.cc -- --timeout bounds a whole command, whatever does not
// answer: how it is shared out, with times that are made up; and whole commands, of three seconds.
#include "hypervisor/budget.h"

#include "tests/unit/hypervisor/machine_pair.h"
#include "tests/unit/hypervisor/scene.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

constexpr TimeNs kTimeout = 3 * kSecond;
constexpr TimeNs kSlack = 5 * kSecond;  // of a machine that others keep busy; a step has a minute

/// How long it took; it did not end early either.
template <class Act>
void takes_its_time(const Act& act) {
  const TimeNs begun = monotonic_now();
  act();
  const TimeNs took = monotonic_now() - begun;
  CHECK(took >= Budget::way_there(kTimeout));
  CHECK(took < kTimeout + kSlack);
}

}  // namespace

TEST_CASE("two thirds are for the way there, and what is left of it for what comes afterwards") {
  Budget budget(1000, 900);
  CHECK(budget.there() == 1600);
  CHECK(budget.afterwards(1010) == 1900);
  CHECK(budget.afterwards(1800) == 1900);  // begun once
  CHECK(Budget(1000, 900).afterwards(1600) == 1900);
}

TEST_CASE("a third is kept even for a command that stood still itself") {
  Budget late(1000, 900);
  CHECK(late.afterwards(5000) == 5300);
  CHECK(late.afterwards(5200) == 5300);
}

TEST_CASE("a guest is asked with the time that there is, and not waited for much longer") {
  const TimeNs now = monotonic_now();
  const Tries plenty = tries_until(now + 600 * kSecond, true);
  CHECK(plenty.each == kPrepareMax);
  CHECK(plenty.until < now + kCardMax + kSlack);
  CHECK(plenty.end == now + 600 * kSecond + kAgentGrace);
  const Tries none = tries_until(now - kSecond, true);
  CHECK(none.each == kSecond);
  CHECK(none.until == now - kSecond);
  CHECK(none.end == now - kSecond + kAgentGrace);
  ScriptedPeer peer;
  GuestAgent mute([&peer](const Patience&) -> Result<JsonLineSocket> { return peer.socket(); });
  const auto said = give_order(mute, {}, GuestOrder::kReturn, {kPrepareMax, now, true, now});
  REQUIRE_FALSE(said);
  CHECK(said.error().code == Errc::kTimeout);
  CHECK(monotonic_now() - now < kSlack);
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
