// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/ladder_types.h -- the values that coordinators and members exchange. Pure data;
// their JSON form is in messages.h, their meaning in docs/SWITCH.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/admin.h"

namespace livebtl::control {

using core::Routing;
using core::Rung;

/// Names a coordinator. The higher term wins; the coordinator's random id breaks ties. number 0: no
/// coordinator yet.
struct Term {
  std::uint64_t number = 0;
  // Random. Odd: a user's command; even: a member that finishes, unasked, what a coordinator left.
  std::uint64_t coordinator = 0;
  friend auto operator<=>(const Term&, const Term&) = default;
};
/// The highest term number that a message may carry, so that there is always a next one.
inline constexpr std::uint64_t kTermMax = std::uint64_t{1} << 62;
/// A coordinator takes the number after the highest that any member knows. Members refuse to
/// promise a term far above their own: otherwise one request could raise the job to kTermMax, and
/// no coordinator could follow.
inline constexpr std::uint64_t kTermStepMax = std::uint64_t{1} << 20;

/// A member, as the job's list of members has it.
struct MemberId {
  ProcessId process{};
  Incarnation incarnation{};
  friend auto operator<=>(const MemberId&, const MemberId&) = default;
};

/// What a ladder is for; kept by members, so that any later coordinator can finish or undo it.
struct Operation {
  std::uint64_t id = 0;  // random, not 0
  std::string verb;      // add | quiesce | remove | switch | set | checkpoint
  std::vector<std::string> arguments;
  std::string node;  // core::node_name() of the scope; "": the job
  // at kNew the transports excluded by `after` are closed and proved released
  bool release = false;
  Routing before;
  Routing after;
  friend bool operator==(const Operation&, const Operation&) = default;
};

inline constexpr std::size_t kByBytesMax = 96;

struct Order {
  std::string job;
  Term term;
  std::uint64_t seq = 0;    // of this coordinator, from 1
  std::uint32_t epoch = 0;  // of operation.after
  Rung rung = Rung::kOld;
  bool undoing = false;  // this ladder is being taken back: `resume` goes down, not up
  Operation operation;
  std::string by =
      {};  // the user or program that ordered it, at most kByBytesMax; "": an earlier version
  friend bool operator==(const Order&, const Order&) = default;
};

/// A new coordinator's first question: "promise to follow no lower term, and say where you stand".
struct PromiseRequest {
  std::string job;
  Term term;
  bool takeover =
      false;  // resume, abort: promise even if another coordinator was heard from recently
  friend bool operator==(const PromiseRequest&, const PromiseRequest&) = default;
};

/// "Where do you stand?" Changes nothing. Asked by a coordinator that begins a ladder, and by a process that
/// joins.
struct StandingRequest {
  std::string job;
  // For a release: also report who holds the devices that are already out of use.
  bool release = false;
  friend bool operator==(const StandingRequest&, const StandingRequest&) = default;
};

/// "The coordinator of this term has ended": another may begin at once instead of waiting for the
/// lease.
struct LadderEnd {
  std::string job;
  Term term;
  bool unfinished = false;  // a member is not at rest (roster.h), or has not answered
  std::uint64_t seq = 0;    // rises with each later LadderEnd of this coordinator
  friend bool operator==(const LadderEnd&, const LadderEnd&) = default;
};

/// "What would this routing do to you?" Changes nothing.
struct PlanRequest {
  std::string job;
  Routing routing;
  friend bool operator==(const PlanRequest&, const PlanRequest&) = default;
};
struct PlanAnswer {
  MemberId member;
  std::string name;
  core::RoutingPlan plan;
};

/// A transport that a member has, and the name it had in Open MPI ("" if none).
struct KnownTransport {
  std::string name;
  std::string alias;
  bool bound_to_device = false;  // `checkpoint prepare` sets it aside
  friend bool operator==(const KnownTransport&, const KnownTransport&) = default;
};

/// What identifies a member, and does not change while the process lives.
struct Described {
  MemberId member;
  std::string name;             // for people: "rank 3 on node17"
  int rank = -1;                // in the launcher's numbering; -1: unknown
  std::string node;             // agent-issued id: sixteen hexadecimal digits
  std::string host;             // the node's label, for people: not unique
  std::uint32_t announced = 1;  // members the launcher announced (spawned ones add themselves)
  friend bool operator==(const Described&, const Described&) = default;
};

/// Where a member stands: its answer to all ladder requests.
struct Standing : Described {
  Term term;                      // highest promised or followed
  std::uint64_t seq = 0;          // last order taken of that term
  std::uint32_t epoch = 0;        // of the last order taken
  std::uint64_t version = 0;      // rises with every answer of this process: higher is newer
  Rung rung = Rung::kOld;         // last ordered and accepted
  bool reached = true;            // its condition holds
  bool undoing = false;           // of the last order taken
  bool joining = false;           // does not have the job's standing yet: follows nobody
  bool stale = false;             // answers a question older than what the member follows
  bool busy = false;              // the coordinator of `term` was heard recently and has not ended
  bool left_open = false;         // ... has not ended, or said that it left something unfinished
  std::uint64_t refused_seq = 0;  // order of `term` that was refused (report.refusal: why); 0: none
  Operation operation;            // the last one; id 0: none ever
  core::RungReport report;        // refusal, pairs, waiting, other_holders
  Routing routing;                // in force: operation.after at kNew, operation.before below
  std::vector<KnownTransport> transports;
  std::uint32_t list_size = 1;  // members this one knows of
  friend bool operator==(const Standing&, const Standing&) = default;
};
/// Of one member's standings, the higher is newer.
inline std::uint64_t answer_number(const Standing& standing) noexcept { return standing.version; }

}  // namespace livebtl::control
