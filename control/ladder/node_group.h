// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/node_group.h -- one question to all members of a node, and their standings in one answer. Plain values;
// pure.
//
// The answer loses nothing of a standing: what members have in common stands in it once, what tells them apart in
// columns. It is a bundle of what each member said itself, with that member's own version, so whoever reads it
// judges each member as if it had answered alone; nothing is added up, and a member that said nothing is not in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/ladder/coordinator.h"

namespace livebtl::control {

/// Of two relays, and of a client and a relay, one passes on to so many at most.
inline constexpr std::size_t kRelayFanOut = 16;
/// In one list of a message.
inline constexpr std::size_t kGroupMax = 1024;
/// Names that an answer spells out.
inline constexpr std::size_t kMissingMax = 32;

enum class NodeQuestion : std::uint8_t { kStanding, kPromise, kOrder, kEnd };
/// "standing", "promise", "order", "end".
constexpr const char* node_question_name(NodeQuestion question) noexcept {
  constexpr const char* kNames[] = {"standing", "promise", "order", "end"};
  return kNames[static_cast<std::size_t>(question)];
}

/// Members of one node, and the relay that leads to it.
struct NodeShare {
  std::string relay;
  std::vector<ProcessId> members;
};

/// To a relay: put this question to these members of your node, and to those of other nodes by their relays.
struct NodeRequest {
  NodeQuestion question = NodeQuestion::kStanding;
  Order order;  // kOrder: the whole; kPromise: job and term; kEnd: job, term, seq; kStanding: job
  bool release = false;     // of a StandingRequest
  bool takeover = false;    // of a PromiseRequest
  bool unfinished = false;  // of a LadderEnd
  bool described = false;   // tell also what never changes: names, ranks, transports
  std::vector<ProcessId> members;
  std::vector<NodeShare>
      onward;  // at most kRelayFanOut - 1; relays that get a share pass nothing on
};

/// The question, without members; nullopt: it is one that is not put to whole nodes.
std::optional<NodeRequest> node_request(const Request& request);
/// What each member is asked.
Request request_of(const NodeRequest& request);
/// Members in it, on all nodes.
std::size_t members_in(const NodeRequest& request) noexcept;

/// What one member of a group says for itself, where that is no number.
struct MemberNote {
  std::uint32_t at = 0;  // position in StandingGroup::members
  std::vector<std::string> pairs;
  std::vector<std::string> waiting;
};

/// Standings that are equal but for what stands in the columns. A column has an entry for each member, or none: then
/// all have what `shared` has.
struct StandingGroup {
  Standing shared;         // its member has an incarnation, and no process
  bool described = false;  // false: name, rank, node, host, announced and transports are left out
  std::vector<ProcessId> members;
  std::vector<std::uint64_t> versions;
  std::vector<int> ranks;
  std::vector<std::string> names;
  std::vector<std::uint32_t> pairs_moved, pairs_left;
  std::vector<MemberNote> notes;  // of those that have any, by rising position
};

/// A standing as it came: without what never changes, if nobody asked for that.
struct HeardStanding {
  Standing standing;
  bool described = true;
};

/// From a relay: what members have said since its last answer, and who has not answered the question.
struct NodeStanding {
  std::uint32_t asked = 0;         // by the last question to each
  std::uint32_t answered = 0;      // ... that have answered it
  std::vector<ProcessId> missing;  // of the others, at most kMissingMax
  std::vector<ProcessId> gone;     // proved to have ended
  std::vector<StandingGroup> groups;
};

/// Makes groups of at most kGroupMax members. described: false leaves out what never changes.
class Grouping {
 public:
  void add(const HeardStanding& heard, bool described);
  std::vector<StandingGroup> take() { return std::exchange(groups_, {}); }

 private:
  std::vector<StandingGroup> groups_;
};

/// "" or what is wrong with it: columns that do not fit, a member twice.
std::string check_group(const StandingGroup& group);
/// Requires: check_group() found nothing; position < members.size(). What that member said: a copy of all that the members
/// have in common, which may be large, so that it is made only of those that were asked.
HeardStanding standing_at(const StandingGroup& group, std::size_t position);

/// Cuts what may be too long for one message in two; false: it has one member at most.
bool halve(NodeStanding& answer, NodeStanding& other);

}  // namespace livebtl::control
