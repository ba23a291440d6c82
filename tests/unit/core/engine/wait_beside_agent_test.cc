// SPDX-License-Identifier: BSD-3-Clause
// wait() beside the agent: bells belong to the thread that sleeps, and it does not sleep through
// what the agent has moved meanwhile.
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <thread>

#include "tests/unit/core/engine/rig.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

/// A transport that reaches nobody, and reports when somebody is about to sleep.
class Sleepy final : public core::Transport {
 public:
  explicit Sleepy(std::function<void()> on_arm) : on_arm_(std::move(on_arm)) {}

  std::string_view name() const noexcept override { return "sleepy"; }
  const core::Caps& caps() const noexcept override { return caps_; }
  Blob address() const override { return Blob(1, std::byte{1}); }
  Blob contact() const override { return Blob(1, std::byte{1}); }
  bool reaches(Bytes) const noexcept override { return false; }
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes) override {
    return fail(Errc::kUnreachable, "nobody is there");
  }
  std::size_t progress(core::TransportSink&, TimeNs, std::size_t) noexcept override { return 0; }
  int wait_fd() const noexcept override { return -1; }
  bool arm() noexcept override {
    on_arm_();
    return true;
  }

 private:
  core::Caps caps_{.payload_bytes_max = 65536};
  std::function<void()> on_arm_;
};

core::TransportKind sleepy(std::function<void()> on_arm) {
  return {"sleepy", "",
          [on_arm](const core::NodeFacts&) -> Result<std::unique_ptr<core::Transport>> {
            return std::make_unique<Sleepy>(on_arm);
          }};
}

}  // namespace

TEST_CASE("the agent leaves the engine and its bells to a thread that falls asleep in wait()") {
  std::promise<void> falls_asleep, turned;
  std::atomic<bool> left_alone = false;
  std::atomic<int> arms = 0;
  Rig rig(1, {kind("self"), sleepy([&] {
                if (arms++ != 0) return;  // the second time it is the agent's own sleep
                falls_asleep.set_value();
                left_alone = turned.get_future().wait_for(std::chrono::seconds(20)) ==
                             std::future_status::ready;
              })});
  core::EngineCore& engine = *rig.engines[0];
  std::thread sleeper([&] { engine.wait(kMillisecond); });
  falls_asleep.get_future().wait();
  engine.agent_turn();  // would wait if it wanted the engine
  turned.set_value();
  CHECK(!Rig::is_away(engine));
  sleeper.join();
  CHECK(left_alone);
}

TEST_CASE("wait() does not sleep over what the agent has moved since the last look") {
  std::atomic<int> arms = 0;
  Rig rig(2, {kind("self"), kind("tcp"), sleepy([&] { ++arms; })});
  core::EngineCore& engine = *rig.engines[1];
  Watched sent, received;
  REQUIRE(rig.ports[1]->receive({}, received) == Accept::kAccepted);
  REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1)}, sent) == Accept::kAccepted);
  const TimeNs deadline = monotonic_now() + 20 * kSecond;
  bool quiet = false;
  while ((received.done_count == 0 || !quiet) && monotonic_now() < deadline) {
    rig.engines[0]->progress();
    quiet = engine.agent_turn() != 0;
  }
  REQUIRE(received.done_count == 1);
  const int before = arms;
  engine.wait(kMillisecond);
  CHECK(arms == before);
  while (arms == before && monotonic_now() < deadline) engine.wait(kMillisecond);
  CHECK(arms > before);
}

TEST_CASE("wait() sleeps for less than a millisecond, too") {
  constexpr TimeNs kTime = 500 * kMicrosecond;
  constexpr int kTimes = 40;
  Rig rig(1, {kind("self"), sleepy([] {})});
  int slept = 0;  // a bell may cut one short
  for (int i = 0; i < kTimes; ++i) {
    const TimeNs begun = monotonic_now();
    rig.engines[0]->wait(kTime);
    slept += monotonic_now() - begun >= kTime ? 1 : 0;
  }
  CHECK(slept > kTimes / 2);
}

// It may have been woken late, and leave then: in mid-ladder its next absence is still attended to
// soon.
TEST_CASE("a thread that sleeps in wait() for long is not counted on for seconds in mid-ladder") {
  for (const bool in_ladder : {false, true}) {
    CAPTURE(in_ladder);
    std::function<void()> asleep;
    Rig rig(1, {kind("self"), sleepy([&] {
                  if (asleep) std::exchange(asleep, nullptr)();
                })});
    core::EngineCore& engine = *rig.engines[0];
    rig.pass(kMillisecond);
    if (in_ladder) engine.submit({7, 1, core::Rung::kJoint, {}, {}});
    Rig::sleep_of(engine);
    bool slept = false;
    asleep = [&] {
      rig.let(5 * kMillisecond);
      slept = engine.agent_turn() < 0;
    };
    engine.wait(0);
    CHECK(slept);
    rig.let(100 * kMillisecond);
    CHECK((engine.agent_turn() >= 0) == in_ladder);
  }
}
