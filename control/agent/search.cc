// SPDX-License-Identifier: BSD-3-Clause
// control/agent/search.cc -- see search.h.
#include "control/agent/search.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/secret.h"
#include "control/client/discovery.h"

namespace livebtl::control {
namespace {

constexpr std::size_t kRelaysKnownMax = 1024;
constexpr std::size_t kRelaysAtOnce = 32;
constexpr std::uint64_t kRoundsOfRelays = 2;  // the first one connects to new relays
constexpr std::size_t kFellowsAtOnce = 4;

}  // namespace

TimeNs Search::wake_at() const noexcept { return admin_.seeks() ? plan_.due_at() : INT64_MAX; }

void Search::turn(TimeNs now) {
  if (!admin_.seeks()) return rest();
  if (now < plan_.due_at()) return;
  const std::vector<ProcessId> sought = admin_.unreached();
  if (sought.empty()) return rest();
  const bool begins = !std::exchange(at_work_, true);
  if (begins) first_relay_ = random_u64() % kRelaysKnownMax;
  learn(admin_.relays());
  std::erase_if(questions_, [&sought](const auto& entry) {
    return !std::binary_search(sought.begin(), sought.end(), entry.first);
  });
  for (const ProcessId process : plan_.due(sought, now)) ask(process);
  if (begins || plan_.round_ended()) end_round();
}

/// Learning of relays means scanning the job's directory, which is worthwhile once a round.
void Search::end_round() {
  if (std::exchange(elsewhere_, false)) ask_for_relays();
  if (++rounds_ % kRoundsOfRelays == 0) first_relay_ += kRelaysAtOnce;
}

void Search::reported() {
  const core::RungReport report = admin_.report();
  const std::pair now{report.operation, report.rung};
  if (!report.reached || now == reached_) return;
  reached_ = now;
  plan_.hurry();
}

void Search::ask(ProcessId process) {
  if (proved_gone(job_.directory, ::geteuid(), process)) return admin_.proved_dead(process);
  const auto question = encode(AddressesRequest{job_.id, question_for(process)});
  if (!question) return;
  if (router_.lives_here(process)) return router_.ask({"", process}, process, *question);
  elsewhere_ = true;
  // If there are more relays than are asked at once, they take turns, starting at random.
  for (std::size_t i = 0; i < std::min(kRelaysAtOnce, relays_.size()); ++i) {
    const std::string& relay = relays_[(first_relay_ + i) % relays_.size()];
    router_.ask({relay, process}, process, *question);
  }
}

/// A process that was not asked cannot guess the number, so it cannot answer in another's name.
std::uint64_t Search::question_for(ProcessId process) {
  const auto [entry, is_new] = questions_.try_emplace(process);
  if (is_new || entry->second.answered) entry->second = {random_u64(), false};
  return entry->second.number;
}

/// A relay of another node is known to the members of this node that have met somebody there.
void Search::ask_for_relays() {
  const auto question = encode(MembersRequest{job_.id, kNoMembers});
  std::vector<MemberCard> fellows = scan_members(job_.directory, ::geteuid()).live;
  std::erase_if(fellows, [&](const MemberCard& card) {
    return !card.joined || card.member.process == self_;
  });
  if (!question || fellows.empty()) return;
  for (std::size_t i = 0; i < std::min(kFellowsAtOnce, fellows.size()); ++i) {
    const ProcessId fellow = fellows[fellows_++ % fellows.size()].member.process;
    router_.ask({"", fellow}, fellow, *question);
  }
}

void Search::learn(const std::vector<std::string>& relays) {
  for (const std::string& relay : relays) {
    const bool known = std::find(relays_.begin(), relays_.end(), relay) != relays_.end();
    if (!known && relays_.size() < kRelaysKnownMax && valid_relay(relay)) relays_.push_back(relay);
  }
}

void Search::hear(const Router::Answered& answer) {
  const auto message = decode(answer.body);
  if (!message || !at_work_) return;
  if (const auto* told = std::get_if<AddressesAnswer>(&*message)) {
    hear(answer.asked, *told);
  } else if (const auto* members = std::get_if<MembersAnswer>(&*message)) {
    learn(members->relays);
  } else if (const auto* error = std::get_if<ErrorAnswer>(&*message)) {
    // A relay's word counts if it has proved that it belongs to the job; a fellow's never does.
    const bool ended = error->code == Errc::kPeerLost && answer.by_relay && job_.secret.present();
    if (ended && questions_.contains(answer.asked)) admin_.proved_dead(answer.asked);
  }
}

/// The answer is hostile: it counts only for a process that was asked, and only for that question;
/// the engine takes nothing from it but addresses to try.
void Search::hear(ProcessId asked, const AddressesAnswer& answer) {
  const auto question = questions_.find(asked);
  if (answer.member.process != asked || question == questions_.end()) return;
  if (question->second.number != answer.question) return;
  question->second.answered = true;
  admin_.introduce(asked, answer.addresses);
}

void Search::rest() {
  if (!std::exchange(at_work_, false)) return;
  plan_.hurry();  // the process that is sought next was not asked yet
  router_.hang_up();
  relays_.clear();
  questions_.clear();
  elsewhere_ = false;
}

}  // namespace livebtl::control
