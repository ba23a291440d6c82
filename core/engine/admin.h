// SPDX-License-Identifier: BSD-3-Clause
// core/engine/admin.h -- what the control plane may ask of an engine, and the answers: values only.
//
// Threads: any; each call takes the engine's lock unless it says otherwise. The agent is the usual
// caller.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "core/engine/engine_page.h"
#include "core/switch/routing.h"
#include "livebtl/types.h"
#include "transports/interface/endpoint_stats.h"

namespace livebtl::core {

/// A member's place in a switch. Rules: docs/SWITCH.md.
enum class Rung : std::uint8_t { kOld = 0, kJoint = 1, kNewTx = 2, kNew = 3 };

/// "Be on this rung of this operation." An idempotent wish, never a toggle.
struct RungOrder {
  // id of the ladder; a new id is accepted when the engine is at rest (kOld or kNew)
  std::uint64_t operation = 0;
  std::uint32_t epoch = 0;  // of `after`
  Rung rung = Rung::kOld;
  Routing before;  // in force at kOld
  Routing after;   // in force at kNew
  // A transport that is asked for by name; if absent (see RungReport), it is looked for at once.
  // Empty: none.
  std::string wanted = {};
  bool patient = false;  // what is added or asked for may be absent; else the order is refused
  friend bool operator==(const RungOrder&, const RungOrder&) = default;
};

/// How far an engine has come with the last RungOrder.
struct RungReport {
  std::uint64_t operation = 0;
  std::uint32_t epoch = 0;
  Rung rung = Rung::kOld;  // the ordered one
  bool reached = true;     // the rung's condition holds
  // not empty: why the rung cannot be reached; the engine stays where it was
  std::string refusal;
  bool refused_last_path = false;  // refused because these peers would be cut off
  // refusal: the peers concerned, by name; else: pairs left on old (at most 32)
  std::vector<std::string> pairs;
  // Ends of pairs: a process has both ends of its pair with itself.
  std::uint32_t pairs_moved = 0;
  std::uint32_t pairs_left = 0;      // cannot use the new transport
  std::vector<std::string> waiting;  // what the rung still waits for, for people (at most 32)
  // Holders of the device of a transport that is released, as of the order or the last
  // look_for_holders(): "verbs: ", then file, descriptor, process.
  std::vector<std::string> other_holders;
  // "verbs: ...": what is not used here though the routing permits it, and why. At any time.
  std::vector<std::string> absent;
  friend bool operator==(const RungReport&, const RungReport&) = default;
};

/// State of a hold, which parks all that this process sends at frame boundaries (switch/hold.h).
enum class HoldState : std::uint8_t {
  kNone,     // no hold since this process began, or since the last one ended
  kParking,  // no new frame is sent; waiting for what is on its way
  kParked,   // nothing of ours is on its way, on any path
  kBroken,   // the hold was interrupted, and stays broken
  kFenced,   // a newer incarnation of the job runs: this process was left behind, and sends nothing
};

struct HoldOrder {
  std::uint64_t id = 0;       // not 0
  TimeNs lease = 0;           // above 0
  std::uint32_t members = 0;  // not 0: all of this many members are parked
  Incarnation job{1};         // the highest known in the job, and not 0 (core/switch/fence.h)
};

/// The restore from a hold's snapshots by one `job restored`. Of two at work at the same time, the
/// one with the higher number goes on: a process follows no number lower than it has seen.
struct HoldClaim {
  std::uint64_t hold = 0;    // not 0
  std::uint64_t number = 0;  // above all known ones, and unique
};

struct HoldReport {
  std::uint64_t id = 0;  // of the hold that `state` is about; 0: none
  HoldState state = HoldState::kNone;
  std::uint32_t members = 0;         // all of this many were parked at one time; 0: not told yet
  std::uint32_t left_ms = 0;         // of the lease; kParking and kParked
  bool claimed = false;              // for a restore: cannot be ended until raised
  std::uint64_t claim = 0;           // the highest number of a claim that was followed
  Incarnation incarnation{};         // of this process (core/switch/fence.h); 0: none yet
  std::uint64_t restored_from = 0;   // the hold from whose snapshots it was restored last; 0: never
  std::string why;                   // kBroken: what broke it
  std::string refusal;               // not empty: the request was not followed, and why
  std::vector<std::string> waiting;  // kParking: what it waits for, for people (at most 32)
};

/// What a routing would do to this process, without doing it.
struct RoutingPlan {
  std::vector<std::string> cut_off;                                   // peers left without any path
  std::map<std::string, std::map<std::string, std::uint32_t>> moves;  // from -> to -> pairs
  std::uint32_t unchanged = 0;
};

struct TransportStatus {
  std::string name;
  std::string alias;             // "" or the name it had in Open MPI
  bool bound_to_device = false;  // no virtual machine can be migrated or saved with it
  bool open = false;
  std::string absent;  // why it is not in service though the routing permits it; "": it is
  bool excluded = false;
  bool quiesced = false;
  std::uint32_t exclusivity = 0;
  std::uint32_t weight = 0;
  // Pairs of this process that send on it now, by lane. The pair with itself has both ends here.
  std::uint32_t peers = 0;  // ordered lane: messages up to a size, and what sets up larger ones
  std::uint32_t bulk_peers = 0;  // placed lane: the bytes of large messages, shared by several
  bool own_pair = false;         // this process's pair with itself is among them
  // since process start
  EndpointStats carried;
  std::uint64_t paths_lost = 0;
  std::uint64_t corrupt_frames = 0;
};

struct PeerStatus {
  ProcessId process{};
  std::string name;               // "rank 3 on node17 (5f3a...)" as far as known
  std::string transport;          // that the ordered lane is sent on; empty: not connected
  std::string receiving;          // that the ordered lane was last received on; empty: nothing yet
  std::vector<std::string> bulk;  // that the placed lane is sent on: shared, by weight
  std::uint32_t generation = 0;
  // Messages, and one-sided operations counted where they start.
  std::uint64_t messages_sent = 0, messages_received = 0;
  std::uint64_t kept_bytes = 0;  // unacknowledged
  // by transport, since process start
  std::map<std::string, std::uint64_t> frames_sent, frames_received;
  bool lost = false;
};

struct EngineStatus {
  ProcessId process{};
  Incarnation incarnation{};  // 0: none yet
  std::uint32_t epoch = 0;
  RungReport rung;
  HoldReport hold;
  Routing routing;
  std::vector<TransportStatus> transports;
  std::vector<PeerStatus> peers;
  std::uint64_t retransmitted_frames = 0, duplicate_frames = 0, reordered_frames = 0;
};

/// Where a process listens, by transport; addresses of at most 512 bytes.
using Contacts = std::map<std::string, Blob>;

inline constexpr std::size_t kLearntRelaysMax = 1024;

class Admin {
 public:
  /// Gives the engine an order, and carries out what can be done now. Returns what report() would.
  virtual RungReport submit(const RungOrder& order) = 0;
  virtual RungReport report() = 0;
  /// Looks again for holders of the devices of transports that are out of use here, for the next
  /// report. Takes milliseconds, during which the engine goes on.
  virtual void look_for_holders() = 0;
  virtual RoutingPlan plan(const Routing& routing) = 0;
  virtual EngineStatus status() = 0;
  /// Adopts the job's routing and epoch when this process joins a running job, before it opens a
  /// transport.
  virtual void adopt(const RungOrder& standing) = 0;
  /// Parks all that this process sends, or renews the lease of that same hold. Refused during a
  /// switch, during another hold or before a broken one is ended, and if this one is broken or has
  /// ended. Once it knows that all its members are parked, anything from outside breaks it.
  virtual HoldReport hold(const HoldOrder& order) = 0;
  /// Ends the hold of that id, and resumes sending; any other id changes nothing. Refused while a
  /// restore claims it.
  virtual HoldReport end_hold(std::uint64_t id) = 0;
  virtual HoldReport hold_report() = 0;
  /// From now on no claim and no restore() with a lower number is followed. If this process is
  /// parked by that hold, the lease begins anew, and the hold cannot be ended before restore(): it
  /// is found whole and claimed on all members before the first is raised, so that nobody ends it
  /// for some of them meanwhile. The end of the lease ends the claim, too. Refused if this process
  /// was never in that hold, or has left it.
  virtual HoldReport claim_hold(const HoldClaim& claim, TimeNs lease) = 0;
  /// This process was restored from a snapshot taken during that hold, like all others of its job:
  /// it is raised to that incarnation, and its connections to other machines are closed, to be
  /// reopened when the hold is ended. Repeated: nothing changes. Refused outside of that hold (a
  /// broken hold or a fence is no obstacle: the caller has seen that the set is whole), and under a
  /// claim that another has outdone.
  virtual HoldReport restore(const HoldClaim& claim, Incarnation to) = 0;
  /// Called (under the engine's lock; must only signal) whenever report(), spans_nodes() or
  /// left_behind() has changed, or unreached() would name somebody again.
  virtual void on_report(std::function<void()> signal) = 0;

  /// Where this node's relay is reached, as peers are told in the first frames of each connection;
  /// empty: it has none. At most 256 bytes, opaque here.
  virtual void publish_relay(const std::string& relay) = 0;
  /// What peers have told us this way, and what learn_relays() was given: each text once.
  virtual std::vector<std::string> relays() = 0;
  /// Relays of nodes to which this one may have no path, from an order of the job; at most
  /// kLearntRelaysMax. Those of the previous order are forgotten, unless this one names none: on a
  /// node that was left, a copy may still answer.
  virtual void learn_relays(const std::vector<std::string>& relays) = 0;
  /// Has a peer on another node been met? Then this node needs a relay, whatever the launcher said.
  /// Without the lock.
  virtual bool spans_nodes() const noexcept = 0;
  /// Is this process a copy that was left behind when the job was restored (core/switch/fence.h)?
  /// Without the lock.
  virtual bool left_behind() const noexcept = 0;

  /// From now on the engine copies its counters there, at moments that come anyway; null: it stops.
  virtual void show_on(EnginePageLatch* page) = 0;

  /// Where this process listens now.
  virtual Contacts contacts() = 0;
  /// false: unreached() names nobody. Without the lock; costs nothing.
  virtual bool seeks() const noexcept = 0;
  /// Living peers to which something is to be sent, and which no address known here reaches.
  /// Sorted.
  virtual std::vector<ProcessId> unreached() = 0;
  /// What such a peer answered when asked where it listens. addresses: hostile. Ignored for any
  /// other peer.
  virtual void introduce(ProcessId peer, const Contacts& addresses) = 0;
  /// Such a peer is proved to have ended: its operations end with kPeerLost after LIVEBTL_DEAD_MS.
  /// Ignored for any other peer.
  virtual void proved_dead(ProcessId peer) = 0;

  /// The agent's turn, whenever it is awake: moves the engine for at most about 100 us if the
  /// application is away and something has come or is due, or if an order is at work. Without the
  /// lock when there is nothing to do. Returns how long the agent may sleep, in ns; below 0: until
  /// something happens.
  virtual std::int64_t agent_turn() = 0;
  /// Descriptors that become readable when there may be work for agent_turn(). Without the lock.
  virtual std::vector<int> wait_fds() = 0;

 protected:
  ~Admin() = default;
};

}  // namespace livebtl::core
