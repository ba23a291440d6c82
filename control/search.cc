// SPDX-License-Identifier: BSD-3-Clause
// control/search.cc -- see search.h.
#include "control/search.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/secret.h"
#include "control/discovery.h"

namespace livebtl::control {
namespace {

constexpr std::size_t kRelaysKnownMax = 1024;
constexpr std::size_t kRelaysAtOnce = 32;
constexpr std::size_t kFellowsAtOnce = 4;
constexpr std::uint32_t kPastTheEnd = UINT32_MAX;  // only relays are wanted, and no member

}  // namespace

Search::Search(const JobFacts& job, ProcessId self, core::Admin& admin, Mailroom& mailroom)
    : job_(job), self_(self), admin_(admin), mailroom_(mailroom) {}

TimeNs Search::wake_at() const noexcept { return admin_.seeks() ? plan_.due_at() : INT64_MAX; }

void Search::turn(TimeNs now) {
  if (!admin_.seeks()) return rest();
  if (now < plan_.due_at()) return;
  const std::vector<ProcessId> sought = admin_.unreached();
  if (sought.empty()) return rest();
  at_work_ = true;
  learn(admin_.relays());
  bool elsewhere = false;
  for (const ProcessId process : plan_.due(sought, now)) {
    const bool here = mailroom_.lives_here(process);
    if (here) ask(process);
    if (!here) ask_relays(process);
    elsewhere = elsewhere || !here;
  }
  if (elsewhere) ask_for_relays();
}

void Search::reported() {
  const core::RungReport report = admin_.report();
  const Reached now{report.operation, report.rung};
  if (!report.reached || now == reached_) return;
  reached_ = now;
  plan_.hurry();
}

void Search::ask(ProcessId process) {
  const auto question = encode(AddressesRequest{job_.id});
  if (question) mailroom_.ask({"", process}, process, *question);
}

/// More relays than are asked at once: some of them, by chance.
void Search::ask_relays(ProcessId process) {
  const auto question = encode(AddressesRequest{job_.id});
  if (!question || relays_.empty()) return;
  const std::size_t first = relays_.size() > kRelaysAtOnce ? random_u64() % relays_.size() : 0;
  for (std::size_t i = 0; i < std::min(kRelaysAtOnce, relays_.size()); ++i) {
    const std::string& relay = relays_[(first + i) % relays_.size()];
    mailroom_.ask({relay, process}, process, *question);
  }
}

/// A relay of another node is known to those members of this one that have met somebody there.
void Search::ask_for_relays() {
  const auto question = encode(MembersRequest{job_.id, kPastTheEnd});
  std::vector<MemberCard> fellows = scan_members(job_.directory, ::geteuid()).live;
  std::erase_if(fellows, [&](const MemberCard& card) {
    return !card.joined || card.member.process == self_;
  });
  if (!question || fellows.empty()) return;
  for (std::size_t i = 0; i < std::min(kFellowsAtOnce, fellows.size()); ++i) {
    const ProcessId fellow = fellows[fellows_++ % fellows.size()].member.process;
    mailroom_.ask({"", fellow}, fellow, *question);
  }
}

void Search::learn(const std::vector<std::string>& relays) {
  for (const std::string& relay : relays) {
    const bool known = std::find(relays_.begin(), relays_.end(), relay) != relays_.end();
    if (!known && relays_.size() < kRelaysKnownMax && valid_relay(relay)) relays_.push_back(relay);
  }
}

/// The answer is hostile: it counts for the process that was asked, and the engine takes no more
/// from it than addresses to try.
void Search::hear(const Mailroom::Answered& answer) {
  const auto message = decode(answer.body);
  if (!message || !at_work_) return;
  if (const auto* told = std::get_if<AddressesAnswer>(&*message)) {
    if (told->member.process == answer.asked) admin_.introduce(answer.asked, told->addresses);
  } else if (const auto* members = std::get_if<MembersAnswer>(&*message)) {
    learn(members->relays);
  }
}

void Search::rest() {
  if (!std::exchange(at_work_, false)) return;
  plan_.hurry();  // whoever is sought next was not asked yet
  mailroom_.hang_up();
  relays_.clear();
}

}  // namespace livebtl::control
