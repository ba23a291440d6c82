// SPDX-License-Identifier: BSD-3-Clause
// control/client/job_links_remote.cc -- see job_links.h: finds members of other nodes through
// relays. Threads: one.
#include <algorithm>
#include <utility>

#include "control/client/job_links.h"

namespace livebtl::control {
namespace {

constexpr TimeNs kRelayAnswers = kSecond;
constexpr TimeNs kRelayAskedAgain = 50 * kMillisecond;
constexpr TimeNs kLocalAnswers = 300 * kMillisecond;

}  // namespace

/// Relays are learned from this node's members, and from those relays in turn. In a job of one node
/// none is known, and later scans cost nothing.
void JobLinks::scan_remote() {
  const TimeNs deadline = monotonic_now() + kRelayAnswers;
  remote_.begin_round(monotonic_now());
  const std::size_t asked = near().size() + (ask_gateway() ? 1U : 0U);
  const bool first = !std::exchange(relays_asked_, asked != 0);
  ask_for_relays();
  const TimeNs local_deadline = monotonic_now() + (first ? kLocalAnswers : 0);
  TimeNs pause = kRelayAskedAgain;  // grows: more questions do not help a slow relay
  TimeNs ask_again_at = monotonic_now() + pause;
  relay_answers_ = 0;
  for (;;) {
    ask_relays();
    hear_all();
    const TimeNs now = monotonic_now();
    const bool hear_locals = relay_answers_ < asked && now < local_deadline;
    const bool hear_relays = !remote_.round_complete() && now < deadline;
    if (!hear_locals && !hear_relays) break;
    if (now >= ask_again_at) {
      remote_.ask_again();
      ask_again_at = now + (pause *= 2);
    }
    ask_relays();
    wait_for_envelopes(hear_relays ? std::min(deadline, ask_again_at) : local_deadline);
  }
  remote_.end_round(monotonic_now());
  merging_ = remote_.merging();
}

void JobLinks::ask_for_relays() {
  for (const ProcessId member : near()) {
    send({outside_relay_, member}, "", MembersRequest{job_.id, kNoMembers});
  }
}

/// The processes to ask for relays: this node's members, unless none of them knows of another node;
/// from outside, those known on our relay's node.
std::vector<ProcessId> JobLinks::near() const {
  if (outside_) return remote_.behind(outside_relay_);
  if (one_node_) return {};
  std::vector<ProcessId> members;
  for (const MemberEntry& member : local_) members.push_back(member.member.process);
  return members;
}

void JobLinks::ask_relays() {
  for (const auto& question : remote_.take_questions()) {
    send({question.relay, ProcessId{}}, question.tag, MembersRequest{job_.id, question.offset});
  }
}

}  // namespace livebtl::control
