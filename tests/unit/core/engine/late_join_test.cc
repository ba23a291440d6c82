// SPDX-License-Identifier: BSD-3-Clause
// A process that was spawned where it finds nobody, and has pairs by the time it learns where the
// job stands (ADR 0044).
#include "tests/unit/core/engine/traffic.h"

using namespace livebtl;
using namespace livebtl::test;
using core::Routing;
using core::Rung;

namespace {

Rung above(Rung rung) { return static_cast<Rung>(static_cast<int>(rung) + 1); }

/// Engine 0 is in a job that was switched from alpha to beta before it met engine 1, which does not
/// know.
class Spawned {
 public:
  Spawned() : rig_(2, {kind("self"), kind("tcp", "alpha"), kind("tcp", "beta")}) {
    first_.moved["alpha"] = "beta";
    second_.moved["beta"] = "alpha";
    for (const Rung rung : {Rung::kJoint, Rung::kNewTx, Rung::kNew}) first(0, rung);
    traffic_ = std::make_unique<Traffic>(rig_);
    talk(20);
  }

  void first(std::size_t engine, Rung rung) {
    rig_.engines[engine]->submit({1, 1, rung, {}, first_});
  }
  /// Back to alpha.
  void second(std::size_t engine, Rung rung) {
    rig_.engines[engine]->submit({2, 2, rung, first_, second_});
  }
  void talk(std::uint64_t rounds) { run(rig_, *traffic_, rounds); }
  void climb_from(Rung rung) {
    for (;; rung = above(rung)) {
      for (const std::size_t engine : {std::size_t{0}, std::size_t{1}}) second(engine, rung);
      rig_.until([&] {
        traffic_->step();
        return reached(0) && reached(1);
      });
      if (rung == Rung::kNew) return;
    }
  }
  bool both_use(const std::string& transport) {
    return used(rig_, 0, 1) == transport && used(rig_, 1, 0) == transport;
  }

 private:
  bool reached(std::size_t engine) {
    const auto report = rig_.engines[engine]->report();
    REQUIRE(report.refusal == "");
    return report.reached;
  }

  Rig rig_;
  Routing first_, second_;
  std::unique_ptr<Traffic> traffic_;
};

}  // namespace

TEST_CASE("who learns late where the job rests goes over to it with the pairs that it has") {
  Spawned job;
  job.first(1, Rung::kNew);
  job.talk(20);
  CHECK(job.both_use("beta"));
  job.climb_from(Rung::kJoint);
  job.talk(20);
  CHECK(job.both_use("alpha"));
}

TEST_CASE(
    "who learns in mid-ladder where the job stands begins on that rung, and nothing is lost") {
  for (const Rung at : {Rung::kJoint, Rung::kNewTx, Rung::kNew}) {
    CAPTURE(static_cast<int>(at));
    Spawned job;
    for (Rung rung = Rung::kJoint; rung <= at; rung = above(rung)) job.second(0, rung);
    job.talk(5);
    job.climb_from(at);
    job.talk(20);
    CHECK(job.both_use("alpha"));
  }
}
