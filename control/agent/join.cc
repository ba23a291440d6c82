// SPDX-License-Identifier: BSD-3-Clause
// control/agent/join.cc -- see join.h.
#include "control/agent/join.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/clock.h"
#include "control/client/discovery.h"
#include "control/wire/local_link.h"
#include "control/wire/messages.h"

namespace livebtl::control {
namespace {

constexpr TimeNs kJoinTimeout = 30 * kSecond;
constexpr TimeNs kAskAgain = 200 * kMillisecond;
constexpr int kPollMs = 50;             // how soon `stop` is noticed
constexpr std::size_t kMoreAtOnce = 2;  // must not flood a starting job with questions

/// Asks more and more of the members found, until one answers. Connections are kept: on a busy
/// machine an answer may take longer than we wait before asking again.
class Questions {
 public:
  explicit Questions(const JobFacts& job) : job_(job), request_(encode(StandingRequest{job.id})) {}

  void ask(const std::vector<MemberCard>& candidates) {
    std::erase_if(asked_, [&](const auto& entry) {
      return entry.second.closed() ||
             std::none_of(candidates.begin(), candidates.end(), [&](const MemberCard& card) {
               return card.member.process == entry.first;
             });
    });
    const std::size_t most = asked_.size() + kMoreAtOnce;
    for (const MemberCard& card : candidates) {
      if (asked_.size() < most) connect(card.member.process);
    }
    for (auto& [member, link] : asked_) {
      if (request_) link.send({.peer = "", .back = "", .to = "", .body = *request_});
    }
  }

  /// nullopt: nobody answered before it was time to ask again.
  std::optional<Standing> answer(const std::atomic<bool>& stop) {
    const TimeNs deadline = monotonic_now() + kAskAgain;
    while (monotonic_now() < deadline && !stop.load()) {
      for (auto& [member, link] : asked_) {
        while (const auto envelope = link.receive()) {
          if (auto standing = standing_in(*envelope, member)) return standing;
        }
      }
      wait();
    }
    return std::nullopt;
  }

 private:
  void connect(ProcessId member) {
    if (asked_.contains(member)) return;
    auto link = LocalLink::connect(socket_path(job_.directory, member));
    if (link) asked_.emplace(member, std::move(*link));
  }

  void wait() {
    std::vector<pollfd> fds;
    for (const auto& [member, link] : asked_) {
      if (!link.closed()) fds.push_back(link.wanted());
    }
    ::poll(fds.data(), fds.size(), kPollMs);
  }

  /// nullopt: from another process, or from one that does not know the standing either.
  static std::optional<Standing> standing_in(const Envelope& envelope, ProcessId from) {
    const auto message = decode(envelope.body);
    const auto* standing = message ? std::get_if<Standing>(&*message) : nullptr;
    const bool knows =
        standing != nullptr && standing->member.process == from && !standing->joining;
    return knows ? std::optional<Standing>(*standing) : std::nullopt;
  }

  const JobFacts& job_;
  const Result<std::string> request_;
  std::map<ProcessId, LocalLink> asked_;
};

/// Errors: kNoMemory (a scan that misses our own file has missed the others too).
Result<std::vector<MemberCard>> joined_members(const JobFacts& job, ProcessId self) {
  std::vector<MemberCard> cards = scan_members(job.directory, ::geteuid()).live;
  const bool seen = std::any_of(cards.begin(), cards.end(), [self](const MemberCard& card) {
    return card.member.process == self;
  });
  if (!seen) {
    return fail(Errc::kNoMemory, "cannot look for members of job " + job.id + " in " +
                                     job.directory + "; is a descriptor left? Raise ulimit -n");
  }
  std::erase_if(cards, [self](const MemberCard& card) {
    return card.member.process == self || !card.joined;
  });
  return cards;
}

}  // namespace

Result<MemberEvent> learn_standing(const JobFacts& job, ProcessId self,
                                   const std::atomic<bool>& stop) {
  const TimeNs deadline = monotonic_now() + kJoinTimeout;
  Questions questions(job);
  while (!stop.load()) {
    const auto candidates = joined_members(job, self);
    if (!candidates) return tl::unexpected(candidates.error());
    if (candidates->empty()) return JoinAsFirst{};
    questions.ask(*candidates);
    if (auto standing = questions.answer(stop)) return JoinFrom{*standing};
    if (monotonic_now() >= deadline) {
      return fail(Errc::kTimeout, "job " + job.id +
                                      " runs already, but its members do not answer (" +
                                      candidates->front().name +
                                      " is one); let them run, or end them, and start this "
                                      "process again");
    }
  }
  return fail(Errc::kCancelled, "stopped while joining job " + job.id);
}

}  // namespace livebtl::control
