// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/ladder/ladder_large.cc -- switches of large jobs through relays, with the production
// machines in virtual time: how long one takes if each hop takes 50 us and each message costs its
// sender and its receiver 20 us, and how many messages the coordinator sends and receives for each
// rung.
//
// With faults, messages are repeated and late, a relay that forwards is killed and replaced in
// mid-ladder, and another one stalls for some milliseconds. What is lost with a relay is asked for
// again after 20 ms, as in all simulations.
#include <cstdio>
#include <cstring>

#include "tests/sim/ladder/ladder_world.h"

using namespace livebtl;
using namespace livebtl::control;

namespace {

struct Case {
  std::size_t members, nodes;
  TimeNs longest;
};
constexpr Case kCases[] = {{10'000, 100, 100 * kMillisecond}, {1'024, 64, 50 * kMillisecond}};
constexpr std::size_t kDepth = 2;  // relays between the coordinator and a member

/// What the coordinator sent and received while one rung was climbed.
struct RungCount {
  Rung rung;
  std::uint64_t sent, heard;
};

class Climb {
 public:
  Climb(const Case& size, bool faults)
      : case_(size), faults_(faults), world_(size.members, 1, what_befalls(size, faults)) {}

  bool run() {
    const TimeNs begun = world_.now();
    const std::size_t index = world_.start("switch", {"sm", "tcp"});
    LadderWorld::Coordinator& one = world_.coordinator(index);
    world_.run_until([&] {
      look(one);
      return one.machine.done();
    });
    const Outcome& outcome = one.machine.outcome();
    const TimeNs took = world_.now() - begun;
    std::printf("%zu members on %zu nodes%s: %s in %.1f ms of virtual time\n", case_.members,
                case_.nodes, faults_ ? ", with faults" : "", outcome.text.c_str(),
                static_cast<double>(took) / kMillisecond);
    bool good = outcome.code == ExitCode::kDone && outcome.members == case_.members;
    good = good && took <= case_.longest && rungs_.size() == 3 && routing_is_new();
    for (const RungCount& rung : rungs_) good = fits(rung) && good;
    if (faults_) good = good && world_.counts().relay_deaths > 0 && world_.counts().repeated > 0;
    return good;
  }

 private:
  static WorldFaults what_befalls(const Case& size, bool faults) {
    WorldFaults what;
    what.nodes = size.nodes;
    what.hop = 50 * kMicrosecond;
    what.message = 20 * kMicrosecond;
    what.delay_max = faults ? 200 * kMicrosecond : kMicrosecond;
    what.repeat = faults ? 0.01 : 0.0;
    return what;
  }

  bool routing_is_new() { return world_.routing().moved.contains("sm") && world_.all_rest(); }

  void look(const LadderWorld::Coordinator& one) {
    for (; seen_ < one.progress.size(); ++seen_) {
      const Progress& progress = one.progress[seen_];
      if (progress.acknowledged == progress.members)
        rungs_.push_back({progress.rung, one.sent - sent_, one.heard - heard_});
      // An order is sent in the step that reports it.
      if (progress.acknowledged != 0) continue;
      sent_ = sent_before_;
      heard_ = heard_before_;
      if (faults_ && progress.rung == Rung::kNewTx)
        world_.after(kMillisecond, [this] { strike(); });
    }
    sent_before_ = one.sent;
    heard_before_ = one.heard;
  }

  /// The relay of node 0 forwards to the first sixteen, and has asked them.
  void strike() {
    world_.kill_relay(0);
    world_.replace_relay(0);
    world_.freeze_relay(17, true);
    world_.after(3 * kMillisecond, [this] { world_.freeze_relay(17, false); });
  }

  bool fits(const RungCount& rung) const {
    const std::uint64_t most = case_.nodes / kRelayFanOut + kDepth;
    std::printf("  %-6s %llu messages sent, %llu taken; without faults %llu at most\n",
                rung_name(rung.rung), static_cast<unsigned long long>(rung.sent),
                static_cast<unsigned long long>(rung.heard), static_cast<unsigned long long>(most));
    return faults_ || (rung.sent <= most && rung.heard <= most);
  }

  Case case_;
  bool faults_;
  LadderWorld world_;
  std::vector<RungCount> rungs_;
  std::size_t seen_ = 0;
  std::uint64_t sent_ = 0, heard_ = 0;                // when the rung was ordered
  std::uint64_t sent_before_ = 0, heard_before_ = 0;  // before the last step
};

}  // namespace

int main() {
  bool good = true;
  for (const Case& size : kCases) {
    for (const bool faults : {false, true}) good = Climb(size, faults).run() && good;
  }
  std::printf(good ? "all within bounds\n" : "FAILED\n");
  return good ? 0 : 1;
}
