// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/ladder_types.h -- the values that coordinator and members exchange. Pure data; JSON form
// in messages.h, meaning in docs/SWITCH.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/admin.h"

namespace livebtl::control {

using core::Routing;
using core::Rung;

/// Names a coordinator: the higher term wins; equal numbers are ordered by the coordinator's random id. 0:
/// nobody yet.
struct Term {
  std::uint64_t number = 0;
  // Random. Odd: a user's command; even: a member that finishes by itself what a coordinator left.
  std::uint64_t coordinator = 0;
  friend auto operator<=>(const Term&, const Term&) = default;
};
/// The highest number of a term in a message: the next one still has a number.
inline constexpr std::uint64_t kTermMax = std::uint64_t{1} << 62;
/// Coordinators count by one from the highest number that any member knows. A promise far above a member's own number is
/// refused: else one request would bring the job to kTermMax, where no coordinator could follow.
inline constexpr std::uint64_t kTermStepMax = std::uint64_t{1} << 20;

/// A member, as it stands in the job's numbered list.
struct MemberId {
  ProcessId process{};
  Incarnation incarnation{};
  friend auto operator<=>(const MemberId&, const MemberId&) = default;
};

/// The ladder's purpose: verb and names, kept by members so that any later coordinator can finish
/// or undo it.
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
  std::string by = {};  // the orderer, for people, at most kByBytesMax; "": of an earlier version
  friend bool operator==(const Order&, const Order&) = default;
};

/// A new coordinator's first question: "promise not to follow lower terms, and tell where you
/// stand".
struct PromiseRequest {
  std::string job;
  Term term;
  bool takeover =
      false;  // resume and abort: promise although another coordinator was heard from recently
  friend bool operator==(const PromiseRequest&, const PromiseRequest&) = default;
};

/// "Where do you stand?" Changes nothing. Asked by a coordinator that begins a ladder, and by a process that
/// joins.
struct StandingRequest {
  std::string job;
  // A release is wanted: also tell who holds the devices that are out of use already.
  bool release = false;
  friend bool operator==(const StandingRequest&, const StandingRequest&) = default;
};

/// "The coordinator of this term has ended": another may begin at once instead of waiting for the
/// lease.
struct LadderEnd {
  std::string job;
  Term term;
  bool unfinished = false;  // a member is still on a rung in between, or has not answered
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

/// What tells a member from others, and does not change while the process lives.
struct Described {
  MemberId member;
  std::string name;             // for people: "rank 3 on node17"
  int rank = -1;                // in the launcher's numbering; -1: unknown
  std::string node;             // agent-issued id: sixteen hexadecimal digits
  std::string host;             // the node's label, for people: not unique
  std::uint32_t announced = 1;  // members the launcher announced (spawned ones add themselves)
  friend bool operator==(const Described&, const Described&) = default;
};

/// Where a member stands. The answer to everything.
struct Standing : Described {
  Term term;                  // highest promised or followed
  std::uint64_t seq = 0;      // last order taken of that term
  std::uint32_t epoch = 0;    // of the last order taken
  std::uint64_t version = 0;  // rises with every answer of this process: the higher is the newer
  Rung rung = Rung::kOld;     // last ordered and accepted
  bool reached = true;        // its condition holds
  bool undoing = false;       // of the last order taken
  bool joining = false;       // has not got the job's standing yet: follows nobody
  bool stale = false;         // the question this answers was older than what the member follows
  bool busy = false;          // the coordinator of `term` was heard recently and has not ended
  bool left_open = false;     // ... has not ended, or said that it leaves something unfinished
  std::uint64_t refused_seq = 0;  // order of `term` that was refused (report.refusal: why); 0: none
  Operation operation;            // the last one; id 0: none ever
  core::RungReport report;        // refusal, pairs, waiting, other_holders
  Routing routing;                // in force: operation.after at kNew, operation.before below
  std::vector<KnownTransport> transports;
  std::uint32_t list_size = 1;  // members this one knows of
  friend bool operator==(const Standing&, const Standing&) = default;
};
/// Of one member's standings the higher is the newer.
inline std::uint64_t answer_number(const Standing& standing) noexcept { return standing.version; }

}  // namespace livebtl::control
