// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/world/coordinators.h -- the simulated control plane: production coordinators, and the
// envelopes between them and the members, late, lost and repeated as planned.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/ladder/coordinator.h"
#include "tests/sim/world/sim_process.h"

namespace livebtl::sim {

class Coordinators {
 public:
  using Processes = std::vector<std::unique_ptr<SimProcess>>;

  Coordinators(SimNetwork& network, Processes& processes, Random& random);

  void start(const std::string& verb, const std::vector<std::string>& arguments,
             const std::string& scope = "");
  /// A process finishes what a coordinator left; the coordinator it runs stalls and dies with it.
  void take_over(SimProcess& process);
  /// The coordinator that is driving a ladder vanishes.
  void crash_one();
  bool any() const noexcept { return !drivers_.empty(); }
  /// The commands that ended last, with their outcome.
  struct Ended {
    std::string command;
    control::Outcome outcome;
    TimeNs took = 0;
    SimProcess* owner = nullptr;  // of a takeover
  };
  std::vector<Ended> take_ended() { return std::exchange(ended_, {}); }

  /// A process that joins asks a member for the job's standing.
  void ask_to_join(SimProcess& process);
  /// Tells the member machine what its engine reports.
  void report(SimProcess& process) { deliver(process, process.engine().report(), 0); }

  /// Delivers what is due, and steps the coordinators and the searching processes.
  void run();
  TimeNs next_event() const;
  /// Called after every step of a member machine.
  std::function<void(SimProcess&)> on_step;

 private:
  struct Driver {
    std::uint64_t id = 0;
    std::string command;
    TimeNs started = 0;
    SimProcess* owner = nullptr;  // null: a btlctl, not part of the job
    std::unique_ptr<control::CoordinatorMachine> machine;
  };
  struct Delivery {
    TimeNs at = 0;
    std::uint64_t number = 0;
    std::function<void()> open;
    bool operator>(const Delivery& other) const noexcept {
      return at != other.at ? at > other.at : number > other.number;
    }
  };

  SimProcess* find(control::MemberId member);
  Driver* find(std::uint64_t id);
  void post(const std::function<void()>& open, bool reliable = false);
  void put_in(TimeNs at, std::function<void()> open);
  void add(control::Command command, std::string name, SimProcess* owner);
  void feed(std::uint64_t id, const control::CoordinatorEvent& event);
  bool owner_is_away(const Driver& driver, const control::CoordinatorEvent& event);
  void act(std::uint64_t id, const control::CoordinatorAction& action);
  /// Does what the agents would: those whose engines seek peers ask these where they listen.
  void search();
  void ask_addresses(SimProcess& asker, ProcessId wanted);
  void answer_scan(std::uint64_t id, std::uint64_t number);
  void deliver(SimProcess& process, const control::MemberEvent& event, std::uint64_t from);
  void send_to_driver(std::uint64_t id, const control::Standing& standing) {
    if (id != 0) post([this, id, standing] { feed(id, standing); });
  }

  SimNetwork& network_;
  Processes& processes_;
  Random& random_;
  std::uint64_t next_number_ = 1;
  std::vector<Driver> drivers_;
  std::vector<Ended> ended_;
  std::vector<Delivery> deliveries_;  // a heap: the earliest in front
};

}  // namespace livebtl::sim
