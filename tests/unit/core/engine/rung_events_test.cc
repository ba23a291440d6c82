// SPDX-License-Identifier: BSD-3-Clause
// A rung's work: which thread does it, and that only events wake an agent for it. Time is the
// test's own, and passes only here; an agent gets a turn when something that it sleeps for has
// happened.
#include "tests/unit/core/engine/ladder.h"

using namespace livebtl;
using namespace livebtl::test;
using core::Routing;
using core::Rung;

namespace {

constexpr TimeNs kSoon = 30 * kMillisecond;  // a dial may be left to the other end for 20 ms

Routing away_from(const std::string& from, const std::string& to) {
  Routing routing;
  routing.moved[from] = to;
  return routing;
}

std::vector<core::TransportKind> sm_and_tcp() { return {kind("self"), kind("sm"), kind("tcp")}; }
/// Engines that met over the first choice of two transports, are to move to the other, and whose
/// applications compute.
struct Computing {
  Computing(std::size_t count, const std::vector<core::TransportKind>& kinds) : rig(count, kinds) {
    std::vector<Watched> sent(count), received(count);
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE(rig.ports[i]->receive({}, received[i]) == Accept::kAccepted);
      const Destination next = rig.to(i, (i + 1) % count);
      REQUIRE(rig.ports[i]->send({.to = next}, sent[i]) == Accept::kAccepted);
    }
    rig.until([&] {
      return std::ranges::all_of(received, [](const auto& each) { return each.done_count == 1; });
    });
    const std::string from = used(rig, 0, 1);
    to = kinds[1].name == from ? kinds[2].name : kinds[1].name;
    after = away_from(from, to);
    rig.pass_away(5 * kSecond);
  }
  void order(std::size_t i, Rung rung) { rig.engines[i]->submit({7, 1, rung, {}, after}); }
  bool reached(std::size_t i) { return rig.engines[i]->report().reached; }
  bool all_reached() {
    bool all = true;
    for (std::size_t i = 0; i < rig.engines.size(); ++i) all = reached(i) && all;
    return all;
  }
  /// Within a time in which only agents that are woken could do it.
  void climb(Rung rung, TimeNs within) {
    for (std::size_t i = 0; i < rig.engines.size(); ++i) order(i, rung);
    rig.pass_away(within);
    CHECK(all_reached());
  }

  Rig rig;
  std::string to;
  Routing after;
};

}  // namespace

TEST_CASE("a ladder of processes that compute is climbed within the time that its dials may take") {
  for (const auto& kinds : {sm_and_tcp(), two_networks()}) {
    Computing job(3, kinds);
    CAPTURE(job.to);
    for (const Rung rung : {Rung::kJoint, Rung::kNewTx, Rung::kNew}) {
      CAPTURE(static_cast<int>(rung));
      job.climb(rung, kSoon);
    }
    for (std::size_t i = 0; i < 3; ++i) CHECK(used(job.rig, i, (i + 1) % 3) == job.to);
    CHECK(job.rig.pass_away(kSecond) < 0);  // and all sleep again until something happens
  }
}

TEST_CASE("the agent of a member that waits for another sleeps until that one has done its part") {
  for (const auto& kinds : {sm_and_tcp(), two_networks()}) {
    Computing job(2, kinds);
    CAPTURE(job.to);
    job.climb(Rung::kJoint, kSoon);
    core::EngineCore& first = *job.rig.engines[0];
    int told = 0;
    first.on_report([&told] { ++told; });
    job.order(0, Rung::kNewTx);  // but not yet the other, which gets no turn either
    const std::int64_t sleep = Rig::sleep_of(first);
    CHECK((sleep < 0 || sleep > kSoon));
    CHECK(!Rig::is_woken(first));
    CHECK(!job.reached(0));
    CHECK(told == 0);
    Rig::sleep_of(*job.rig.engines[1]);  // it is woken by the marker, and acknowledges it
    CHECK(Rig::is_woken(first));
    Rig::sleep_of(first);
    CHECK(job.reached(0));
    CHECK(told > 0);
  }
}

TEST_CASE(
    "an application that calls in does a rung's work itself, and its agent is told of the end") {
  Computing job(2, sm_and_tcp());
  job.climb(Rung::kJoint, kSoon);
  core::EngineCore& first = *job.rig.engines[0];
  for (int i = 0; i < 200; ++i) job.rig.pass(kMillisecond / 10);
  int told = 0;
  first.on_report([&told] { ++told; });
  job.order(0, Rung::kNewTx);
  CHECK(Rig::sleep_of(first) < 0);
  CHECK(!Rig::is_away(first));
  CHECK(!job.reached(0));
  for (int i = 0; i < 10; ++i) job.rig.pass(kMillisecond / 10);  // without any agent
  CHECK(job.reached(0));
  CHECK(told > 0);
}

// One that was not missed for seconds is missed now, by the ladder's other members.
TEST_CASE("in mid-ladder each long absence is attended to, also between two rungs") {
  Computing job(2, sm_and_tcp());
  for (const Rung rung : {Rung::kOld, Rung::kJoint}) {
    if (rung == Rung::kJoint) job.climb(rung, kSoon);
    for (int absence = 0; absence < 3; ++absence) {
      for (int i = 0; i < 3; ++i) job.rig.pass(kMillisecond);
      job.rig.pass_away(100 * kMillisecond);
    }
    CHECK(Rig::is_away(*job.rig.engines[0]) == (rung == Rung::kJoint));
  }
}

// Many that spin on few processors are away whenever others run.
TEST_CASE("in mid-ladder the agent of an application that is away for moments is woken seldom") {
  Computing job(2, sm_and_tcp());
  job.climb(Rung::kJoint, kSoon);
  int attended = 0;
  for (int absence = 0; absence < 60; ++absence) {
    for (int i = 0; i < 3; ++i) job.rig.pass(kMillisecond);
    job.rig.pass_away(5 * kMillisecond);
    attended += Rig::is_away(*job.rig.engines[0]) ? 1 : 0;
  }
  CHECK(attended >= 2);  // in 480 ms
  CHECK(attended <= 12);
}
