// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/network/sim_network.h -- the wires between the simulated processes, and everything that
// can happen to them.
//
// Deterministic: one generator decides everything, and nothing is ordered by addresses in memory.
// Transports pull: a frame is delivered when its receiver's progress() runs at or after the frame's
// arrival time, so a process that is not moved receives nothing, like a stopped one. Ownership: the
// network owns the connections; transports and endpoints register here and leave in their
// destructors.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/network/faults.h"
#include "tests/sim/network/sim_clock.h"
#include "transports/interface/node_facts.h"
#include "transports/interface/transport.h"

namespace livebtl::sim {

class SimEndpoint;
class SimTransport;

inline constexpr std::size_t kWireMax = 64;  // frames that one end may have in flight

/// A payload that its receiver reads in its sender's memory.
struct Exposed {
  Bytes where;        // there ...
  Blob copy;          // ... or here, if its owner wanted that back before
  bool read = false;  // and its owner may have it back
  bool gone = false;  // with its sender's process
};

/// One frame in flight.
struct Parcel {
  TimeNs arrives = 0;
  Blob header;
  Blob payload;
  std::uint64_t order = 0;           // among all frames from that process to that one
  std::shared_ptr<Exposed> exposed;  // instead of a payload
};

/// One end of a connection, and what it has sent to the other.
struct Half {
  ProcessId process{};
  SimEndpoint* end = nullptr;  // null: not accepted yet, or closed
  bool closed = false;
  std::deque<Parcel> wire;  // from this end, in order of arrival
  TimeNs last_arrival = 0;
  bool box_due = false;       // this end has used its box since the other end's last turn
  TimeNs open_at = kNever;    // when this end may post
  TimeNs sees_down = kNever;  // when this end learns that the connection is gone
  bool after_wire = false;    // ... but not before it has read what the other end sent
  Error why;
};

/// A frame that an engine posts.
struct Posted {
  ProcessId from, to;
  const std::string& transport;
  Bytes header;
  bool in_vain;  // one end has given the connection up: nobody will read it
};

/// The fast box of one direction, in memory that both ends share: what is stored there is visible
/// at once, while frames on the wire take time.
struct SimBox {
  core::BoxSlot slots[core::kBoxSlots];
  std::byte area[core::kBoxAreaBytes] = {};
  std::uint64_t taken = 0;
  std::uint32_t asleep = 1;                   // always: the network is told of each message
  std::uint64_t heard[core::kBoxSlots] = {};  // words already reported
};

struct Connection {
  std::uint64_t number = 0;
  std::string transport;
  bool keeps = false;
  bool broken = false;               // nothing more is put on the wires
  bool severed = false;              // ... and not by an end that closed it in good order
  TimeNs asks_at = 0;                // when the dial reaches the acceptor
  Half halves[2];                    // dialler, acceptor
  std::unique_ptr<SimBox> boxes[2];  // from dialler, from acceptor; null: can lose frames
};

/// What distinguishes the simulated transports.
struct SimKind {
  std::string name;
  core::Caps caps;
  TimeNs delay = 10 * kMicrosecond;
};
/// alpha and beta can lose frames, gamma cannot and serves one node only.
const std::vector<SimKind>& sim_kinds();

class SimNetwork {
 public:
  /// wait_fd: see wait_fd().
  SimNetwork(SimClock& clock, std::uint64_t seed, FaultPlan plan, int wait_fd = -1);
  ~SimNetwork();
  SimNetwork(const SimNetwork&) = delete;
  SimNetwork& operator=(const SimNetwork&) = delete;

  /// What an engine needs to make transports of this network.
  std::vector<core::TransportKind> kinds();

  /// Once per simulation step: may break something. calm: from then on nothing breaks.
  void chaos();
  void set_plan(const FaultPlan& plan) { plan_ = plan; }
  void calm() {
    plan_ = FaultPlan::calm();
    outages_.clear();
  }
  /// Breaks a connection. blind: that end (0, 1) never sees it by itself; -1: both see it.
  void sever(Connection& connection, int blind);
  /// The process vanishes: what it has sent may arrive; its peers see it go sooner or later or, on
  /// a transport that can lose frames, never.
  void kill(ProcessId process);

  /// When the process's transports next have something to do, as far as known; kNever: only if
  /// others act.
  TimeNs next_event(ProcessId process) const;
  /// What its transports let an agent sleep on; -1: nothing. Virtual time cannot make a descriptor
  /// readable: this one always is, and the simulator gives a sleeping agent a turn once
  /// next_event() is due.
  int wait_fd() const noexcept { return wait_fd_; }
  std::size_t open_endpoints(ProcessId process, const std::string& transport) const;

  SimClock& clock() noexcept { return clock_; }
  Random& random() noexcept { return random_; }
  const FaultPlan& plan() const noexcept { return plan_; }
  FaultCounts& counts() noexcept { return counts_; }

  /// `process` has told `peer` that it ends. What `peer` sends it no longer counts.
  void take_leave(ProcessId process, ProcessId peer) { goodbyes_.insert({process, peer}); }
  bool died(ProcessId process) const { return dead_.contains(process); }
  bool took_leave(ProcessId process, ProcessId peer) const {
    return goodbyes_.contains({process, peer});
  }

  /// The first frame in flight between two living processes, to one that has not said goodbye, that
  /// `name` gives a readable name; "": none.
  std::string find_on_wire(const std::function<std::string(Bytes header)>& name) const;

  /// Called for every frame that a transport took; for the oracle.
  std::function<void(const Posted&)> on_post;

  // For SimTransport and SimEndpoint.
  void enter(SimTransport& transport);
  void leave(SimTransport& transport) noexcept;
  SimTransport* find(const std::string& name, ProcessId process) const;
  Result<Connection*> dial(SimTransport& from, ProcessId to);
  /// A connection that has reached this transport and is not accepted yet; null: none.
  Connection* next_incoming(SimTransport& to);
  bool has_incoming(const SimTransport& to) const { return incoming(to) != nullptr; }
  void put_on_wire(Connection& connection, int from, Parcel parcel);
  void delivered(const Connection& connection, int to, const Parcel& parcel);
  /// Something was put into that end's fast box.
  void boxed(Connection& connection, int side);
  std::uint64_t boxed_messages() const noexcept { return boxed_messages_; }
  /// An end was closed by its owner.
  void closed(Connection& connection, int side);
  TimeNs soon(TimeNs about);

 private:
  using PairOfProcesses = std::pair<ProcessId, ProcessId>;

  Connection* incoming(const SimTransport& to) const;
  TimeNs delay_of(const std::string& transport);
  bool in_outage(const std::string& transport, ProcessId one, ProcessId other) const;
  void cut_wire(Half& half);
  void sweep();

  SimClock& clock_;
  Random random_;
  FaultPlan plan_;
  FaultCounts counts_;
  std::uint64_t boxed_messages_ = 0;
  std::uint64_t next_number_ = 1;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::map<std::pair<std::string, ProcessId>, SimTransport*> transports_;
  std::map<PairOfProcesses, std::uint64_t> last_put_, highest_delivered_;
  std::map<std::pair<std::string, PairOfProcesses>, TimeNs> outages_;  // until
  std::set<ProcessId> dead_;
  std::set<std::pair<ProcessId, ProcessId>> goodbyes_;  // who, to whom
  const int wait_fd_;
};

}  // namespace livebtl::sim
