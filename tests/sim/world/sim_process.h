// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/world/sim_process.h -- one simulated process: the production engine and member machine,
// and an application.
//
// What its three parts would do in threads happens here in turns: the application calls in (or
// computes and does not), the agent takes its turns when the product's would, and control messages
// go to the member machine.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "control/agent/search_plan.h"
#include "control/ladder/member.h"
#include "control/ladder/takeover_watch.h"
#include "core/engine/engine_core.h"
#include "tests/sim/network/sim_network.h"
#include "tests/sim/world/application.h"

namespace livebtl::sim {

struct ProcessOptions {
  std::uint64_t number = 1;  // process id, and rank + 1
  std::uint64_t node = 1;
  std::uint32_t announced = 1;  // job size at its start; 0: this one joined later
  std::uint64_t seed = 0;
  std::uint64_t first_seq = 1;
  bool secret = false;
  int linger_ms = -1;              // when it ends in good order; -1: without limit
  std::string lacks;               // a transport that this process was not built with; empty: none
  std::set<std::string> excluded;  // closed from the start, in all processes of the job
};

class SimProcess {
 public:
  SimProcess(SimNetwork& network, Ledger& ledger, const ProcessOptions& options);
  ~SimProcess();
  SimProcess(const SimProcess&) = delete;
  SimProcess& operator=(const SimProcess&) = delete;

  std::uint64_t number() const noexcept { return options_.number; }
  ProcessId id() const noexcept { return ProcessId{options_.number}; }
  std::uint64_t node() const noexcept { return options_.node; }
  const std::string& node_name() const noexcept { return node_name_; }
  const std::string& lacks() const noexcept { return options_.lacks; }
  control::MemberId member_id() const noexcept { return {id(), Incarnation{1}}; }
  Application& application() noexcept { return application_; }
  core::EngineCore& engine() noexcept { return *engine_; }

  /// It knows the job's standing: opens what the routing permits, and its port.
  void begin();
  bool begun() const noexcept { return begun_; }
  void meet(SimProcess& other);

  bool alive() const noexcept { return engine_ != nullptr; }
  void die();
  /// Ends in good order. patient: once all that it has begun is done; else the rest is cancelled.
  void leave(bool patient);
  /// Until its engine has ended, it and its peers may wait for each other.
  bool leaving() const noexcept { return alive() && leaves_ != Leaves::kNot; }
  /// It has a port.
  bool can_be_met() const noexcept { return alive() && begun_ && leaves_ != Leaves::kLingering; }
  /// From here on it gets its turns seldom.
  void slow_down(TimeNs pace) noexcept { pace_ = pace; }
  /// Stands still until then. clock_stops: like that of a paused VM.
  void freeze(TimeNs until, bool clock_stops);
  bool frozen() const noexcept;
  TimeNs frozen_until() const noexcept { return frozen_until_; }
  void thaw();

  /// Moves the application and the agent; sets next_turn().
  void turn(bool sending);
  TimeNs next_turn() const noexcept { return next_turn_; }

  /// Steps the member machine and carries out its actions, except answers and notifications, which
  /// go to `reply`.
  using Reply = std::function<void(const control::MemberAction&)>;
  void step(const control::MemberEvent& event, const Reply& reply);
  /// The engine's report has changed since the machine was told.
  bool report_due() const noexcept { return report_due_; }
  control::Standing standing() const { return member_.standing(clock_.now()); }
  bool joined() const noexcept { return member_.joined(); }
  /// It is on no ladder. Cheap, as every turn of the simulation checks it.
  bool rests() const noexcept { return member_.joined() && !member_.unfinished(); }
  const core::Routing& routing() const noexcept { return member_.committed_routing(); }
  /// Is it time to finish what a coordinator has left?
  bool takeover_due() { return watch_.due(member_, clock_.now()); }
  void not_ours() noexcept { watch_.not_ours(clock_.now()); }
  bool left_alone(std::size_t before) const noexcept { return watch_.left_alone(before); }
  void tried(bool in_vain) noexcept { watch_.tried(in_vain, clock_.now()); }
  /// Processes that its agent now asks where they listen.
  std::vector<ProcessId> to_ask();
  /// The engine's last report, as the member machine knows it; not reached while an order is being
  /// handed over.
  const core::RungReport& told() const noexcept { return told_; }
  const core::RungOrder& order() const noexcept { return order_; }

 private:
  enum class Leaves : std::uint8_t { kNot, kPatiently, kAtOnce, kLingering };

  core::EngineConfig config();
  void move_agent(TimeNs now);
  void call_wait(TimeNs now);
  std::size_t move_application(TimeNs now, bool sending);
  void wind_up();
  void end();
  void report_back(const Reply& reply);

  SimNetwork& network_;
  Ledger& ledger_;
  const ProcessOptions options_;
  const std::string node_name_;
  Random random_;
  ProcessClock clock_;
  Application application_;
  control::MemberMachine member_;
  control::TakeoverWatch watch_;
  control::SearchPlan search_;
  std::unique_ptr<core::EngineCore> engine_;
  core::RungReport told_;
  core::RungOrder order_;
  Leaves leaves_ = Leaves::kNot;
  TimeNs pace_ = 0;  // between its turns, at least
  bool begun_ = false;
  bool report_due_ = false;
  bool clock_stops_ = false;
  TimeNs frozen_since_ = 0;
  TimeNs frozen_until_ = 0;
  TimeNs computes_until_ = 0;
  TimeNs agent_at_ = 0;       // its agent sleeps until then, ...
  bool agent_armed_ = false;  // ... or until something arrives from the network
  TimeNs waits_at_ = 0;       // when its application next calls wait()
  TimeNs next_turn_ = 0;
};

}  // namespace livebtl::sim
