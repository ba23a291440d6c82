// SPDX-License-Identifier: BSD-3-Clause
// What an engine reports to observers: switches, lost paths, lost peers.
#include "tests/unit/core/engine/ladder.h"
#include "tests/unit/core/engine/tapped.h"
#include "tests/unit/core/engine/traffic.h"

using namespace livebtl;
using namespace livebtl::test;
using Kind = EngineEvent::Kind;

namespace {

/// Events of rank 0's engine in order, such as "switched to alpha".
struct Watcher {
  explicit Watcher(Rig& rig) {
    rig.engines[0]->on_event([this, &rig](const EngineEvent& event) {
      CHECK(event.peer == rig.engines[1]->process_id());
      rig.engines[0]->process_id();  // it may call the engine
      told.push_back(word(event.kind) + event.transport);
    });
  }
  static std::string word(Kind kind) {
    switch (kind) {
      case Kind::kSwitched:
        return "switched to ";
      case Kind::kPathLost:
        return "lost ";
      case Kind::kPeerLost:
        return "lost all";
    }
    return "?";
  }
  std::vector<std::string> told;
};

void break_all(Tap& tap) {
  const auto sinks = tap.sinks;
  for (core::EndpointSink* sink : sinks) sink->on_down({Errc::kDown, "the test breaks it"});
}

}  // namespace

TEST_CASE("switches and lost paths are told, by peer and transport") {
  Taps alpha, beta;
  Rig rig(2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta)});
  Watcher watcher(rig);
  Traffic traffic(rig);
  Ladder ladder{rig, [&] { traffic.step(); }};
  ladder.go(prefer("alpha"));
  run(rig, traffic, 20);
  REQUIRE(!watcher.told.empty());
  CHECK(watcher.told.back() == "switched to alpha");

  watcher.told.clear();
  ladder.go(prefer("beta"));
  CHECK(watcher.told == std::vector<std::string>{"switched to beta"});

  watcher.told.clear();
  for (auto& [rank, tap] : beta) tap.refuses = true;
  break_all(beta[0]);
  run(rig, traffic, 20);
  CHECK(watcher.told == std::vector<std::string>{"lost beta", "switched to alpha"});
}

TEST_CASE("a peer that is proved dead is told") {
  Taps taps;
  Rig rig(2, {kind("self"), tapped("shared", taps, "sm")});
  Watcher watcher(rig);
  Traffic traffic(rig, Traffic::Sizes::kEager);
  run(rig, traffic, 20);
  CHECK(watcher.told == std::vector<std::string>{"switched to shared"});
  break_all(taps[0]);  // a loss in shared memory is final
  rig.until([&] { return watcher.told.size() == 2; });
  CHECK(watcher.told.back() == "lost all");
}
