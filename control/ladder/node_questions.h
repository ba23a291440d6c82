// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/node_questions.h -- the coordinator's side of relays that merge: which of its
// questions go together, through which relay, and what the answers say of each member.
//
// Pure: no socket, no clock; time is an argument. Used by btlctl's links in the product and by the
// simulator. The coordinator's machine asks and hears the same as without relays; only the number
// of messages differs. A relay is hostile: it is heard only for members that were asked through it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "control/ladder/node_group.h"

namespace livebtl::control {

/// Send this to that relay, which merges.
struct AskRelay {
  std::string relay;
  NodeRequest request;
};
/// AskRelay; or Send, to a member itself.
using Question = std::variant<Send, AskRelay>;

class NodeQuestions {
 public:
  /// The relay that leads to a member and merges; nullptr: none, the member is asked directly.
  /// Names are the caller's own; the relay whose name sorts first costs least, and is asked to pass
  /// on.
  using RelayOf = std::function<const std::string*(MemberId)>;

  /// The questions for what a machine sends in one step. Up to kRelayFanOut relays are asked
  /// through one of them, except those that were silent lately: each of these is asked by itself,
  /// and passes nothing on.
  std::vector<Question> put(const std::vector<Send>& sends, const RelayOf& relay_of, TimeNs now);
  /// If a question is too long for one message: one for each of its relays, with nothing passed on;
  /// empty: it passes nothing on.
  std::vector<AskRelay> apart(const AskRelay& question);
  /// The same without a relay that merges, if it is still too long.
  std::vector<Send> each_by_itself(const AskRelay& question) const;

  struct Heard {
    std::vector<Standing> standings;
    std::vector<MemberId> gone;
  };
  /// relay: as put() named it. Requires: checked groups.
  Heard hear(const std::string& relay, const NodeStanding& answer);
  /// Was it asked, and has it said nothing for kDoubtAfter since?
  bool silent(const std::string& relay, TimeNs now) const;

 private:
  /// A relay answers within NodeMerge's hold, if only to say who is missing; twice that if it
  /// passes on, plus the way.
  static constexpr TimeNs kDoubtAfter = 60 * kMillisecond;
  static constexpr std::size_t kRelaysOfMemberMax = 8;

  struct Member {
    MemberId id;
    std::vector<std::string> asked_by;  // the last relays through which it was asked
    std::optional<Standing> described;  // what never changes, as first told
  };
  struct Batch {
    Request request;
    std::map<std::string, std::vector<MemberId>> by_relay;
  };

  static std::vector<Batch> batches(const std::vector<Send>& sends, const RelayOf& relay_of,
                                    std::vector<Question>& questions);
  void put(const Batch& batch, TimeNs now, std::vector<Question>& questions);
  NodeRequest addressed(const Batch& batch, const std::vector<std::string>& relays);
  void note_asked(const std::string& through, const std::vector<MemberId>& members);
  static bool describe(Member& member, HeardStanding& heard);

  std::map<ProcessId, Member> members_;
  std::map<std::string, TimeNs>
      unheard_since_;  // relays that were asked, and have said nothing since
};

}  // namespace livebtl::control
