// SPDX-License-Identifier: BSD-3-Clause
// control/client/remote_members.h -- what btlctl knows of a job's members on other nodes, from
// their relays' answers.
//
// Pure: no socket; time is an argument. What is known of a relay's members stays known when it does
// not answer.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "control/wire/messages.h"

namespace livebtl::control {

class RemoteMembers {
 public:
  /// A member has reported these relays; malformed ones are ignored.
  void learn(const std::vector<std::string>& relays);
  /// ... the user has: if two relays have a process of one id, the one at such a relay is the
  /// job's.
  void learn_named(const std::vector<std::string>& relays);

  /// Begins a round: all relays are to be asked again; those that were silent lately are not waited
  /// for.
  void begin_round(TimeNs now);
  /// Pages to ask for now. tag: comes back with the answer, and says which question it answers.
  struct Question {
    std::string relay;
    std::uint32_t offset = 0;
    std::string tag;
  };
  std::vector<Question> take_questions();
  /// Asks those relays again that have not answered: messages get lost, above all the first ones,
  /// since the relay may not be connected yet.
  void ask_again();
  /// tag: hostile. An answer to an earlier round shows that the relay speaks again, and tells its
  /// members if none is known yet.
  void answer(std::string_view tag, const MembersAnswer& page);
  bool round_complete() const;
  /// Time is up: for a while, relays that have not answered are not waited for.
  void end_round(TimeNs now);

  bool empty() const noexcept { return relays_.empty(); }
  /// Adds the live members, and those proved gone.
  void add_to(std::vector<MemberEntry>& live, std::vector<MemberEntry>& gone) const;
  /// Which relay leads to this process; nullptr: none.
  const std::string* relay_of(ProcessId process) const;
  /// The relays that merge (control/ladder/node_questions.h), by the members that they lead to.
  std::map<ProcessId, std::string> merging() const;
  /// The live members of this relay's node.
  std::vector<ProcessId> behind(const std::string& relay) const;

 private:
  struct Relay {
    bool awaited = false;   // in this round
    bool to_ask = false;    // a question is due
    bool answered = false;  // all pages of this round are here
    bool complete = true;   // of this round's pages
    bool merges = false;    // as it has said itself
    bool named = false;     // by the user
    TimeNs silent_until = 0;
    std::vector<MemberEntry> pages;  // of this round, so far
    std::vector<MemberEntry> live;
    std::map<MemberId, MemberEntry> gone;  // at most kGoneMax
  };
  static void settle(Relay& relay);
  static void note_gone(Relay& relay, const MemberEntry& member);
  bool is_outdone(const Relay& relay, const MemberEntry& member) const;
  std::map<MemberId, const Relay*> homes() const;
  static void learn_late(Relay& relay, const MembersAnswer& page);

  std::map<std::string, Relay> relays_;
  std::uint64_t round_ = 0;
};

}  // namespace livebtl::control
