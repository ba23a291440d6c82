// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/world/world.h -- a whole job in one thread and virtual time: N engines, their applications,
// the control plane, and everything that can go wrong, decided by one seed.
//
// A run has two parts. First faults, traffic and ladders mix; then faults stop, and everything
// begun must end. The oracle watches throughout:
//  - each message exactly once, unharmed, in order of its source, target and tag (ledger.h)
//  - no numbered or placed frame on a transport that its sender has left by an acknowledged rung
//  - members of one ladder within one rung
//  - a transport that is excluded at an acknowledged end of a ladder is closed
//  - nothing in flight while all say that they are parked for a snapshot (holds.h)
//  - what a process that left in good order was told is done arrives, or its receiver is told that
//    the process is lost; whatever waits for one that is gone ends
//  - once faults have stopped, every ladder ends, all members agree, and every message arrives
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/bell.h"
#include "tests/sim/world/coordinators.h"
#include "tests/sim/world/holds.h"

namespace livebtl::sim {

struct WorldResult {
  std::string failure;  // empty: all held
  FaultCounts faults;
  std::map<std::string, std::uint64_t> outcomes;  // "switch: 0" -> how often
  TimeNs slowest = 0;                             // of the commands that were carried out
  std::string slowest_command;
  std::uint64_t messages = 0, boxed = 0;  // boxed: put into fast boxes
  std::uint64_t holds = 0, holds_parked = 0, holds_expired = 0, restores = 0;
  std::uint64_t steps = 0;
  std::uint64_t retransmitted = 0, duplicates = 0, reordered = 0;
  TimeNs virtual_time = 0;
  std::uint64_t fingerprint = 0;  // equal for equal runs
};

class World {
 public:
  World(std::uint64_t seed, const FaultPlan& plan);
  ~World();

  WorldResult run();
  /// Where everybody stands, in readable form.
  std::string describe();

 private:
  SimProcess& add_process(bool first);
  void everyone_meets(SimProcess& fresh);
  void pass_time();
  void move_processes();
  void break_something();
  void leave_one();
  void burden(SimProcess& peer);
  void give_commands();
  void start_random_command();
  void finish_ladders();
  void rejoin();
  void take_over();
  void note_ended();
  void join_one();
  bool all_done();
  bool all_rest();
  void stop_faults();

  void check_member(SimProcess& process);
  void check_closed(SimProcess& process);
  void note_post(const Posted& posted);
  void check_post(const Posted& posted);
  void check_end();
  void note_result();
  void fail(const std::string& what) { ledger_.fail(what); }
  TimeNs now() const noexcept { return clock_.now(); }

  const std::uint64_t seed_;
  FaultPlan plan_;
  Random random_;
  Random other_random_;  // draws which process lacks what, and which is restarted
  Random leaves_;        // draws which process leaves, when, and what then happens to its peers
  SimClock clock_;
  Ledger ledger_;
  struct AlwaysRung {
    AlwaysRung() { bell.ring(); }
    Bell bell;
  };
  AlwaysRung always_rung_;  // what agents sleep on
  SimNetwork network_;
  std::vector<std::unique_ptr<SimProcess>> processes_;
  Coordinators coordinators_;
  Holds holds_;
  WorldResult result_;
  std::set<std::string> excluded_;  // from the start
  std::uint32_t announced_ = 0;
  std::uint64_t first_seq_ = 1;
  bool calm_ = false;
  bool nobody_resumes_ = false;  // members have to finish leftovers by themselves
  SimProcess* at_it_ = nullptr;  // the one now doing so
  TimeNs chaos_ends_ = 0;
  TimeNs deadline_ = 0;
  TimeNs next_command_ = 0;
  TimeNs join_at_ = 0;
  TimeNs leave_at_ = kNever;
  SimProcess* joining_ = nullptr;
  TimeNs ask_again_ = 0;
};

}  // namespace livebtl::sim
