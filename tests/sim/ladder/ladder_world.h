// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/ladder/ladder_world.h -- a job in virtual time: the production machines of members and
// coordinators, an engine reduced to what the ladder promises (which transports are open, which one
// is sent on, what is in flight), and a network that loses, repeats, reorders and delays as one
// seed decides.
//
// One thread. The world checks its invariants in every step and throws Violation at the first
// breach.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/random.h"
#include "control/ladder/coordinator.h"
#include "control/ladder/member.h"
#include "control/ladder/node_merge.h"
#include "control/ladder/node_questions.h"
#include "control/ladder/takeover_watch.h"

namespace livebtl::control {

struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Counts each kind, so that a run can show that none was missing.
struct FaultCounts {
  std::uint64_t dropped = 0, repeated = 0, reordered = 0, coordinator_crashes = 0,
                member_crashes = 0, joins = 0, freezes = 0, clock_jumps = 0, refusals = 0,
                losses = 0, takeovers = 0, relay_deaths = 0, relay_freezes = 0, merged = 0,
                passed_on = 0;
};

struct WorldFaults {
  double drop = 0.0;
  double repeat = 0.0;
  TimeNs delay_max = kMillisecond / 10;
  bool traffic = false;   // data frames between members
  std::size_t nodes = 0;  // each has a relay that merges; 0: the coordinator asks members directly
  // What messages cost, where relays merge: in transit, and for whoever sends or receives one.
  TimeNs hop = 0, message = 0;
};

class LadderWorld {
 public:
  LadderWorld(std::size_t members, std::uint64_t seed, WorldFaults faults = {});

  // -- what tests do
  std::size_t start(const std::string& verb, const std::vector<std::string>& arguments = {},
                    CoordinatorTimes times = default_times(), bool dry_run = false);
  void kill_coordinator(std::size_t index);
  void freeze(std::size_t member, bool frozen);
  void crash_member(std::size_t member);
  std::size_t join_member();
  void jump_clock(std::size_t coordinator, TimeNs by);
  void calm();  // faults stop
  void after(TimeNs pause, std::function<void()> run) { at(now_ + pause, std::move(run)); }
  void freeze_relay(std::size_t node, bool frozen);
  void kill_relay(std::size_t node);
  /// Starts another one, which knows nothing.
  void replace_relay(std::size_t node);
  /// From here on the first living member finishes what coordinators leave behind.
  void members_take_over();
  /// Runs events until the predicate holds (true) or virtual time runs out (false).
  bool run_until(const std::function<bool()>& predicate, TimeNs longest = 120 * kSecond);
  /// Runs until coordinator `index` is done.
  const Outcome& finish(std::size_t index);

  // -- what tests see
  struct Engine {
    core::RungOrder order;
    bool reached = true;
    std::string refusal;
    bool refuse_joint = false;      // cannot open the new transport
    bool last_path = false;         // the refusal is that of the last path
    bool stall = false;             // never reaches a rung until this is false
    std::uint64_t losses_left = 0;  // at kNewTx: the new path breaks this many times
    std::vector<std::string> other_holders;
    std::vector<std::string> absent;
    int rungs_down = 0;  // orders to a lower rung, ever
  };
  struct Member {
    Member(MemberFacts facts, std::uint64_t chance) : machine(std::move(facts)), watch(chance) {}
    MemberMachine machine;
    TakeoverWatch watch;
    TimeNs look_at = INT64_MAX;  // when the watch is to be asked next
    bool taking_over = false;
    Engine engine;
    MemberId id;
    bool alive = true;
    bool frozen = false;
    TimeNs clock_offset = 0;
    std::vector<std::function<void()>> backlog;
    std::size_t in_flight = 0;                  // own frames
    std::function<void(Standing)> coordinator;  // return route to its last leader; relays only
  };
  struct Relay {
    NodeMerge merge;
    bool alive = true;
    bool frozen = false;
    bool merges = true;  // false: of an earlier version
    std::uint64_t life = 0;
    TimeNs tick_at = 0;
    std::vector<std::function<void()>> backlog;
  };
  struct Coordinator {
    Coordinator(Command command, TimeNs now) : machine(std::move(command), now) {}
    CoordinatorMachine machine;
    NodeQuestions questions;
    std::uint64_t sent = 0, heard = 0;  // messages, where relays merge
    std::optional<std::size_t> owner;   // the member that took over; else a separate btlctl
    bool alive = true;
    TimeNs clock_offset = 0;
    TimeNs tick_at = 0;
    std::vector<Progress> progress;
  };
  Member& member(std::size_t index) { return *members_.at(index); }
  Coordinator& coordinator(std::size_t index) { return *coordinators_.at(index); }
  Relay& relay(std::size_t node) { return *relays_.at(node); }
  std::size_t relay_count() const { return relays_.size(); }
  std::size_t member_count() const { return members_.size(); }
  std::size_t coordinator_count() const { return coordinators_.size(); }
  TimeNs now() const { return now_; }
  FaultCounts& counts() { return counts_; }
  Random& random() { return random_; }
  /// The routing that all living members have in force; throws if they differ.
  Routing routing();
  bool all_rest();
  /// Where everybody stands, in readable form.
  std::string describe() const;
  std::uint64_t frames_delivered() const { return frames_delivered_; }

  static CoordinatorTimes default_times();
  static MemberFacts facts_of(std::size_t index, std::uint32_t announced);

 private:
  struct Event {
    TimeNs at;
    std::uint64_t number;  // for equal times: in order of creation
    std::function<void()> run;
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };
  /// A process that receives and sends messages.
  struct Place {
    char kind = 'c';  // coordinator, relay, member
    std::size_t index = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Frame {
    std::size_t from, to;
    std::string transport;
  };

  void at(TimeNs when, std::function<void()> run);
  TimeNs some_delay();
  /// Over the network: lost, repeated or late, as the faults say.
  void carry(const std::function<void()>& deliver);
  // ladder_world_relays.cc
  void carry(Place from, Place to, const std::function<void()>& deliver);
  TimeNs occupy(Place place);
  std::size_t node_of(std::size_t member) const { return member % relays_.size(); }
  void send_by_relays(std::size_t coordinator, const std::vector<Send>& sends);
  void to_relay(std::size_t node, std::function<void()> run);
  void relay_takes(std::size_t node, const std::string& client, const NodeRequest& request);
  void relay_acts(std::size_t node, const std::vector<MergeAction>& actions);
  void relay_act(std::size_t node, const ToMembers& asked);
  void relay_act(std::size_t node, const ToRelay& asked);
  void relay_act(std::size_t node, const ToClient& told);
  void tell_relay(std::size_t node, const ToClient& told);
  void coordinator_hears(std::size_t coordinator, std::size_t node, const NodeStanding& answer);
  void to_member(std::size_t index, std::function<void()> run);
  void feed_member(std::size_t index, const MemberEvent& event,
                   std::function<void(Standing)> reply);
  void feed_coordinator(std::size_t index, const CoordinatorEvent& event);
  std::size_t add_coordinator(const Command& command, std::optional<std::size_t> owner);
  void watch(std::size_t index);
  void look(std::size_t index);
  std::size_t before_it(std::size_t index) const;
  void take_over(std::size_t index);
  bool owner_is_away(std::size_t index, const CoordinatorEvent& event);
  void note_takeover(const Coordinator& one);
  void act(std::size_t index, const CoordinatorAction& action);
  void send(std::size_t coordinator, const Send& send);
  void engine_take(std::size_t index, const core::RungOrder& order, bool adopted);
  void engine_poll(std::size_t index);
  void engine_report(std::size_t index);
  void ask_to_join(std::size_t index);
  void send_frame(std::size_t from);
  void deliver_frame(const Frame& frame);
  bool is_open(std::size_t index, const std::string& transport) const;
  std::string sends_on(std::size_t index) const;
  static std::string chosen(const Routing& routing);
  void check_rungs();
  void notify(const Member& from, const Standing& standing);

  TimeNs now_ = kSecond;
  std::uint64_t event_number_ = 0;
  Random random_;
  WorldFaults faults_;
  std::uint32_t announced_;
  std::uint64_t frames_delivered_ = 0;
  std::priority_queue<Event> events_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::unique_ptr<Coordinator>> coordinators_;
  std::vector<std::unique_ptr<Relay>> relays_;
  std::map<Place, TimeNs> busy_until_;
  FaultCounts counts_;
  bool takes_over_ = false;
};

}  // namespace livebtl::control
