// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/ask.h -- one question to all members of a job, their answers, and the members that stay
// silent.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "control/client/job_links.h"

namespace livebtl::tool {

/// ask() repeats its question every half second. One time-out covers all questions of an Asker.
/// Answer: the message type that answers the question.
template <class Answer>
class Asker {
 public:
  Asker(control::JobLinks& links, TimeNs timeout, const std::atomic<bool>& stop)
      : links_(links), deadline_(monotonic_now() + timeout), stop_(stop) {}

  struct Result {
    std::vector<std::pair<control::MemberEntry, Answer>> answers;
    std::vector<control::MemberEntry> silent;
  };

  Result ask_all(const control::Message& question) { return ask(links_.scan().live, question); }

  /// fits: does the answer belong to this question, not to an earlier one? A slow member is asked
  /// twice and answers twice.
  Result ask(std::vector<control::MemberEntry> waiting, const control::Message& question,
             const std::function<bool(const Answer&)>& fits = nullptr) {
    Result result;
    TimeNs send_at = 0;
    while (!waiting.empty() && monotonic_now() < deadline_ && !stop_.load()) {
      if (monotonic_now() >= send_at) {
        if (send_at != 0) forget_those_who_left(waiting);
        for (const auto& member : waiting) links_.send(member.member, question);
        send_at = monotonic_now() + kResend;
      }
      const TimeNs until = std::min(deadline_, send_at);
      if (auto heard = links_.receive(until - monotonic_now())) take(*heard, fits, waiting, result);
    }
    if (!waiting.empty()) forget_those_who_left(waiting);
    result.silent = std::move(waiting);
    std::sort(result.answers.begin(), result.answers.end(), by_rank);
    return result;
  }

  /// The first answer. Each step asks twice as many members as the last, this node's first, so that
  /// a stopped one delays nothing and few are asked needlessly.
  std::optional<Answer> ask_any(const control::Message& question) {
    std::vector<control::MemberEntry> members = links_.found().live;  // this node's come first
    constexpr std::size_t kWaveMax = std::size_t{1} << 16;
    std::size_t next = 0, wave = 1;
    while (!members.empty() && monotonic_now() < deadline_ && !stop_.load()) {
      for (std::size_t i = 0; i < wave && next < members.size(); ++i)
        links_.send(members[next++].member, question);
      wave = std::min(wave * 2, kWaveMax);
      const TimeNs step_ends = std::min(deadline_, monotonic_now() + kNextWave);
      while (auto heard = links_.receive(step_ends - monotonic_now())) {
        if (auto* answer = std::get_if<Answer>(&heard->message)) return std::move(*answer);
        if (monotonic_now() >= step_ends || stop_.load()) break;  // other messages may never stop
      }
      if (next < members.size()) continue;
      members = links_.scan().live;  // all were asked: ask those still there again
      next = 0;
    }
    return std::nullopt;
  }

 private:
  static constexpr TimeNs kResend = 500 * kMillisecond;
  static constexpr TimeNs kNextWave = 100 * kMillisecond;

  static bool by_rank(const std::pair<control::MemberEntry, Answer>& a,
                      const std::pair<control::MemberEntry, Answer>& b) {
    const auto place = [](const control::MemberEntry& m) {
      return std::tuple(m.rank < 0, m.rank, m.member);
    };
    return place(a.first) < place(b.first);
  }

  /// A member that has provably left is not silent.
  void forget_those_who_left(std::vector<control::MemberEntry>& waiting) {
    const auto& gone = links_.scan().gone;
    std::erase_if(waiting, [&gone](const control::MemberEntry& member) {
      return std::any_of(gone.begin(), gone.end(), [&member](const control::MemberEntry& one) {
        return one.member == member.member;
      });
    });
  }

  static void take(control::JobLinks::Heard& heard, const std::function<bool(const Answer&)>& fits,
                   std::vector<control::MemberEntry>& waiting, Result& result) {
    auto* answer = std::get_if<Answer>(&heard.message);
    if (answer == nullptr || (fits && !fits(*answer))) return;
    const auto found = std::find_if(waiting.begin(), waiting.end(), [&](const auto& member) {
      return member.member == heard.from;
    });
    if (found == waiting.end()) return;
    result.answers.emplace_back(std::move(*found), std::move(*answer));
    waiting.erase(found);
  }

  control::JobLinks& links_;
  const TimeNs deadline_;
  const std::atomic<bool>& stop_;
};

}  // namespace livebtl::tool
