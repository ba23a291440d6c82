// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/plan/plan_test.cc -- a call does what --dry-run says, phase by phase: whole
// commands over sockets, between played machines.
#include "tests/unit/hypervisor/migrate/migrate_scene.h"
#include "tests/unit/hypervisor/set/machine_pair.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

/// "unplug hca0", for each line of the plan; `failing`: of what is done on failure.
Log heads(const std::vector<std::string>& plan, bool failing = false) {
  Log heads;
  bool failed = false;
  for (const std::string& line : plan) {
    if (line.starts_with("if ")) {
      failed = true;
    } else if (failed == failing) {
      heads.push_back(line.substr(failed ? 2 : 0, line.find(':') - (failed ? 2 : 0)));
    }
  }
  return heads;
}

/// ... for each phase after the look, beginning with the one of this name.
Log done(const Report& report, const std::string& from = "") {
  Log done;
  bool begun = from.empty();
  for (const auto& phase : report.phases) {
    begun = begun || phase.name == from;
    if (begun && phase.name != "look")
      done.push_back(phase.name + (phase.object.empty() ? "" : " " + phase.object));
  }
  return done;
}

template <class Request, class Run>
std::vector<std::string> planned(Request& request, const Run& run) {
  request.dry_run = true;
  const auto report = run();
  request.dry_run = false;
  CHECK(report.end.code == 0);
  CHECK(report.phases.empty());
  return report.plan;
}

Log planned_and_done(Scene& scene) {
  const auto plan = planned(scene.request, [&scene] { return scene.run(); });
  const auto report = scene.run();
  CHECK(report.end.code == 0);
  CHECK(heads(plan) == done(report));
  return heads(plan);
}

}  // namespace

TEST_CASE("a migration does what its plan says: all, and what a killed call has left of it") {
  Scene whole;
  CHECK(planned_and_done(whole).size() == 9);
  CHECK(planned_and_done(whole).front() == "arrive");  // the guest has moved
  Scene alone;
  alone.request.destination = {};
  CHECK(planned_and_done(alone).back() == "migrate");
  Scene unplugged;
  unplugged.here->with([](auto& state) {
    state.objects["livebtl-hca0"] = state.cards["hca0"].dump();
    state.cards.erase("hca0");
  });
  CHECK(planned_and_done(unplugged)[1] == "unplug hca1");
}

TEST_CASE("a migration that fails is taken back as its plan says") {
  Scene scene;
  scene.here->with([](auto& state) { state.migration_ends = "failed"; });
  const auto plan = planned(scene.request, [&scene] { return scene.run(); });
  const auto report = scene.run();
  CHECK(report.end.code == 5);
  CHECK(heads(plan, true) == Log{"look_back", "plug hca0", "plug hca1", "return"});
  CHECK(heads(plan, true) == done(report, "look_back"));
}

TEST_CASE("a way back that a killed call has left is planned as it is gone") {
  Scene scene;
  scene.request.card_arguments = {scene.here->with([](auto& state) {
    state.status = "paused";
    state.migration = "failed";
    const Json arguments = state.cards["hca0"];
    state.cards.erase("hca0");
    return arguments;
  })};
  scene.request.dry_run = true;
  CHECK(scene.run().end.code == 3);  // pulled by another client
  const std::string note = scene.request.card_arguments[0].dump();
  scene.here->with([&note](auto& state) { state.objects["livebtl-hca0"] = note; });
  const auto plan = planned(scene.request, [&scene] { return scene.run(); });
  CHECK(heads(plan) == Log{"look_back", "go_on", "plug hca0", "return"});
  CHECK(plan[1] == "go_on: cont");
  CHECK(heads(plan, true).empty());
  const auto report = scene.run();
  CHECK(report.end.code == 5);
  CHECK(heads(plan) == done(report));
  CHECK(scene.cards_here() == 2);
}

TEST_CASE("a snapshot and a restore do what their plans say") {
  MachinePair pair;
  const auto to_take = planned(pair.request, [&pair] { return pair.snapshot(); });
  CHECK(heads(to_take) == done(pair.snapshot()));
  CHECK(heads(to_take).size() == 19);
  pair.start("inmigrate");
  const auto to_restore = planned(pair.request, [&pair] { return pair.restore(); });
  CHECK(heads(to_restore) == done(pair.restore()));
  CHECK(heads(to_restore).size() == 8);
  const auto again = planned(pair.request, [&pair] { return pair.restore(); });
  CHECK(heads(again) == Log{"restored", "return"});
}

TEST_CASE("a snapshot clears up after a killed call as its plan says") {
  MachinePair pair;
  pair.both([](auto& state) { state.objects["livebtl.hold"] = R"({"hold":"0x7"})"; });
  const auto plan = planned(pair.request, [&pair] { return pair.snapshot(); });
  CHECK(heads(plan) == done(pair.snapshot()));
  CHECK(plan[2].find("hold end --id 0x7") != std::string::npos);
  CHECK(plan[7].find("hold start --id ID") != std::string::npos);
}

TEST_CASE("what does not fit together is taken back as the plan says") {
  MachinePair taken;
  const auto to_take = planned(taken.request, [&taken] { return taken.snapshot(); });
  taken.machines[0]->with([](auto& state) { state.guest_codes["hold check"] = 8; });
  CHECK(heads(to_take, true) == done(taken.snapshot(), "end_hold"));
  MachinePair restored;
  restored.snapshot();
  restored.start("inmigrate");
  const auto to_restore = planned(restored.request, [&restored] { return restored.restore(); });
  restored.machines[0]->with([](auto& state) { state.guest_codes["job restored"] = 8; });
  CHECK(heads(to_restore, true) == done(restored.restore(), "halt"));
  CHECK(heads(to_restore, true).size() == 2);
}
