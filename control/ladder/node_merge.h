// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/node_merge.h -- a relay's part in a switch: it puts one question to the members of
// its node, and reports their answers in as few messages as it can.
//
// Pure: no socket, no clock; time is an argument. Driven by livebtl-relay in the product and by the
// simulator. Correctness does not depend on it: it makes up no standing, changes none, and reports
// none that the member did not give to this very client's question; a relay that is killed forgets
// everything, and the coordinator asks again. A client is whoever asks, identified by the way back
// to it; what it asked, and whom, is its session. Members, clients and other relays are hostile:
// what nobody asked for is dropped.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "control/ladder/node_group.h"

namespace livebtl::control {

/// Put this to each of these members. Their answers go to heard(session, ...).
struct ToMembers {
  std::uint64_t session = 0;
  std::vector<ProcessId> members;
  Request request;
};
/// Put this to that relay. Its answers go to heard(session, via, ...).
struct ToRelay {
  std::uint64_t session = 0;
  std::uint32_t via = 0;
  std::string relay;
  NodeRequest request;
};
struct ToClient {
  std::string client;
  NodeStanding answer;
};
using MergeAction = std::variant<ToMembers, ToRelay, ToClient>;

class NodeMerge {
 public:
  /// An answer is complete when all have settled the question, and is then sent at once. Otherwise,
  /// what has come is sent after this long, which doubles with each incomplete answer to a
  /// question.
  static constexpr TimeNs kHoldLeast = 10 * kMillisecond;
  static constexpr TimeNs kHoldMost = 80 * kMillisecond;
  /// A question that a member has not settled is put to it again after this long, which doubles
  /// each time. A socket of the node loses next to nothing, and if an answer takes long, more
  /// questions make it take longer. Less than a coordinator's lease.
  static constexpr TimeNs kPutAgainLeast = 200 * kMillisecond;
  static constexpr TimeNs kPutAgainMost = 1600 * kMillisecond;

  /// request: checked for its form (messages.h). A member that was asked before is now asked this
  /// instead.
  std::vector<MergeAction> ask(const std::string& client, const NodeRequest& request, TimeNs now);
  /// A member of this node has answered; the caller has checked that it is that member. Dropped if
  /// that session did not ask it, or it has said something newer.
  std::vector<MergeAction> heard(std::uint64_t session, const Standing& standing, TimeNs now);
  /// Did a question of that session go to this relay, under that number? Answers from elsewhere
  /// belong to no question.
  bool went_to(std::uint64_t session, std::uint32_t via, const std::string& relay) const;
  /// Another relay has answered; members that were not asked through it are ignored. Requires:
  /// checked groups.
  std::vector<MergeAction> heard(std::uint64_t session, std::uint32_t via,
                                 const NodeStanding& answer, TimeNs now);
  /// Proof that a member of this node has ended: it is no longer waited for, and reported as gone.
  std::vector<MergeAction> gone(std::uint64_t session, ProcessId member, TimeNs now);
  /// Returns what is due; call it at wake_at(). Each call, also at other times, forgets sessions in
  /// which nobody has asked for long.
  std::vector<MergeAction> turn(TimeNs now);
  TimeNs wake_at() const noexcept;

  std::size_t sessions() const noexcept { return sessions_.size(); }
  bool knows(std::uint64_t session) const { return sessions_.contains(session); }
  /// Of all sessions.
  std::size_t members() const noexcept;

 private:
  static constexpr std::size_t kSessionsMax = 64;
  static constexpr std::size_t kMembersMax = 65'536;  // of all sessions
  static constexpr std::size_t kRelaysMax = 1024;     // of a session
  static constexpr TimeNs kForgetAfter = 60 * kSecond;

  struct Member {
    std::shared_ptr<const Request> asked;
    std::uint32_t via = 0;  // 0: this node
    TimeNs put_again_at = 0;
    TimeNs put_pause = 0;
    bool described = false;  // as it was asked last
    bool waits = false;      // has not settled that question
    bool gone = false;
    std::uint64_t version = 0;          // of its newest standing; 0: none yet
    std::optional<HeardStanding> news;  // not told yet
  };
  struct Session {
    std::string client;
    std::map<ProcessId, Member> members;
    std::vector<std::string> relays;  // via 1, 2, ...
    std::size_t waiting = 0;
    std::vector<ProcessId> gone;  // not told yet
    std::size_t news = 0;
    TimeNs hold = kHoldLeast;
    TimeNs due_at = INT64_MAX;
    TimeNs asked_at = 0;
  };

  std::uint64_t session_of(const std::string& client, TimeNs now);
  void forget_old(TimeNs now);
  void forget_oldest_but(std::uint64_t kept);
  struct Question {
    std::shared_ptr<const Request> request;
    bool described = false;
    TimeNs now = 0;
  };
  static std::vector<ProcessId> note_asked(Session& session, const std::vector<ProcessId>& members,
                                           std::uint32_t via, const Question& question);
  static std::optional<std::uint32_t> via_of(Session& session, const std::string& relay);
  static Member* asked(Session& session, std::uint32_t via, ProcessId process);
  static void take(Session& session, Member& member, HeardStanding heard);
  static void note_gone(Session& session, std::uint32_t via, ProcessId process);
  static void settle(Session& session, Member& member);
  static std::vector<MergeAction> tell_if_due(Session& session, TimeNs now);
  static NodeStanding tell(Session& session);

  std::map<std::uint64_t, Session> sessions_;  // by number; no number is used twice
  std::uint64_t numbers_ = 0;
};

}  // namespace livebtl::control
