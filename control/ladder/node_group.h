// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/node_group.h -- one question to all members of a node, and their standings in one answer. Plain values;
// pure.
//
// The answer loses nothing of a standing: what members have in common appears once, what differs in
// columns. It bundles what each member said itself, with that member's own version, so its reader
// judges each member as if it had answered alone; nothing is added up, and a member that said
// nothing is not in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/ladder/coordinator.h"

namespace livebtl::control {

/// How many relays one message to a relay can reach, that one included.
inline constexpr std::size_t kRelayFanOut = 16;
/// Entries in one list of a message.
inline constexpr std::size_t kGroupMax = 1024;
/// Missing members that an answer names.
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

/// To a relay: put this question to these members of your node, and, through their relays, to those
/// of other nodes.
struct NodeRequest {
  NodeQuestion question = NodeQuestion::kStanding;
  Order order;  // kOrder: the whole; kPromise: job and term; kEnd: job, term, seq; kStanding: job
  bool release = false;     // of a StandingRequest
  bool takeover = false;    // of a PromiseRequest
  bool unfinished = false;  // of a LadderEnd
  bool described = false;   // also tell what never changes: names, ranks, transports
  std::vector<ProcessId> members;
  std::vector<NodeShare>
      onward;  // at most kRelayFanOut - 1; relays that get a share pass nothing on
};

/// The question, without members; nullopt: a question that is not put to whole nodes.
std::optional<NodeRequest> node_request(const Request& request);
/// What each member is asked.
Request request_of(const NodeRequest& request);
/// Members in it, on all nodes.
std::size_t members_in(const NodeRequest& request) noexcept;

/// What one member of a group says for itself, apart from numbers.
struct MemberNote {
  std::uint32_t at = 0;  // position in StandingGroup::members
  std::vector<std::string> pairs;
  std::vector<std::string> waiting;
};

/// Standings that are equal except for the columns. A column has an entry for each member, or is
/// empty: then all members have what `shared` has.
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

/// A standing as it came: without what never changes if nobody asked for that.
struct HeardStanding {
  Standing standing;
  bool described = true;
};

/// From a relay: what members have said since its last answer, and who has not answered the question.
struct NodeStanding {
  std::uint32_t asked = 0;         // members that were asked
  std::uint32_t answered = 0;      // ... and have answered their last question
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

/// "" or what is wrong with the group: columns that do not fit, a member twice.
std::string check_group(const StandingGroup& group);
/// What the member at this position said. It copies all that the members have in common, which may
/// be large: call it only for members that were asked. Requires: check_group() found nothing;
/// position < members.size().
HeardStanding standing_at(const StandingGroup& group, std::size_t position);

/// Cuts an answer that may be too long for one message in two; false: it has one member at most.
bool halve(NodeStanding& answer, NodeStanding& other);

}  // namespace livebtl::control
