// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/outcome.h -- the result of a command: exit code and facts, for people and for JSON. Pure
// data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "control/ladder/ladder_types.h"

namespace livebtl::control {

struct Straggler {
  MemberId member;
  std::string name;
  int rank = -1;
  std::optional<Rung> rung;          // where it stood when it last answered; nullopt: it never did
  bool answered = false;             // the last question; false: silent
  std::vector<std::string> waiting;  // what it waits for, by its own account
};

/// One step of the ladder, as the coordinator saw it.
struct RungTime {
  Rung rung = Rung::kOld;
  bool undoing = false;
  bool complete = false;      // all acknowledged
  double milliseconds = 0.0;  // from the first order to the last acknowledgement, or to giving up
};

struct MemberPlan {
  std::string name;
  core::RoutingPlan plan;
};

struct Outcome {
  ExitCode code = ExitCode::kDone;
  std::string verb;
  std::vector<std::string> arguments;
  std::string scope = "job";  // or "node:NAME", as given
  std::string text;           // one sentence, with the next step if there is one
  bool already = false;       // it was so before; no ladder was run
  bool background = false;    // it goes on (--no-wait): the code says only that it was begun
  bool released = false;      // remove, checkpoint prepare: nothing of ours is left there
  std::uint64_t operation = 0;
  std::uint32_t epoch = 0;
  std::uint32_t members = 0;
  Rung rung = Rung::kOld;  // last ordered
  std::uint32_t pairs_moved = 0;
  std::uint32_t pairs_left = 0;       // cannot use the new transport
  std::vector<std::string> pairs;     // kRefused: would be cut off; else: left (at most 32)
  std::vector<Straggler> stragglers;  // at most 32
  std::uint32_t stragglers_total = 0;
  std::vector<int> missing_ranks;  // kMembersMissing
  std::vector<RungTime> rungs;
  std::vector<std::string> other_holders;  // holders that are not ours: owner, descriptor
  std::vector<std::string> absent;         // checkpoint return: what is not there yet, and why
  std::vector<MemberPlan> plans;           // dry run: pairs that would move, given what is open now
  // dry run: transports that would be opened (pairs that reach them may then move) and closed
  std::vector<std::string> opens, closes;
};

inline constexpr std::size_t kNamesMax = 32;

/// "old", "joint", "newtx", "new".
constexpr const char* rung_name(Rung rung) noexcept {
  constexpr const char* kNames[] = {"old", "joint", "newtx", "new"};
  return kNames[static_cast<std::size_t>(rung)];
}

}  // namespace livebtl::control
