// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/driver/job_view.cc -- asks all members, page by page, and asks silent ones again.
#include "tests/e2e/driver/job_view.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/secret.h"

namespace livebtl::e2e {
namespace {

using control::MemberEntry;
using control::MemberId;

constexpr TimeNs kAskAgain = 500 * kMillisecond;

std::optional<std::string> environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

/// The answers of all members, as they come in.
class Questions {
 public:
  Questions(control::JobLinks& links, std::uint32_t epoch_min)
      : links_(links), epoch_min_(epoch_min) {
    for (const MemberEntry& member : links.scan().live) waiting_[member.member] = 0;
  }

  bool complete() const { return waiting_.empty(); }
  std::size_t silent() const { return waiting_.size(); }
  View view() const { return {counts_of(engines_), epoch_}; }

  void ask() {
    forget_those_who_left();
    for (const auto& [member, offset] : waiting_) ask(member, offset);
  }

  void take(const control::JobLinks::Heard& heard) {
    const auto* answer = std::get_if<control::StatusAnswer>(&heard.message);
    const auto found = waiting_.find(heard.from);
    if (answer == nullptr || found == waiting_.end() || answer->peers_offset != found->second)
      return;
    if (answer->standing.epoch < epoch_min_) return;
    epoch_ = std::max(epoch_, answer->standing.epoch);
    engines_.push_back(answer->engine);  // one page; counts_of() accepts several of one engine
    found->second += static_cast<std::uint32_t>(answer->engine.peers.size());
    if (found->second >= answer->peers_total || answer->engine.peers.empty()) {
      waiting_.erase(found);
    } else {
      ask(heard.from, found->second);
    }
  }

 private:
  void ask(MemberId member, std::uint32_t offset) {
    control::StatusRequest request;
    request.job = links_.job();
    request.peers = true;
    request.peers_offset = offset;
    links_.send(member, request);
  }

  void forget_those_who_left() {
    const auto& live = links_.scan().live;
    std::erase_if(waiting_, [&](const auto& entry) {
      return std::none_of(live.begin(), live.end(),
                          [&](const MemberEntry& member) { return member.member == entry.first; });
    });
  }

  control::JobLinks& links_;
  const std::uint32_t epoch_min_;
  std::uint32_t epoch_ = 0;                    // the newest among the answers
  std::map<MemberId, std::uint32_t> waiting_;  // with the offset of the page wanted next
  std::vector<core::EngineStatus> engines_;
};

}  // namespace

Result<control::JobPlace> find_job(const std::string& wanted) {
  const std::string rundir = environment("LIVEBTL_RUNDIR").value_or("");
  auto jobs = control::find_jobs(control::run_directories(rundir, environment));
  if (!wanted.empty()) std::erase_if(jobs, [&](const auto& job) { return job.id != wanted; });
  if (jobs.size() == 1) return std::move(jobs.front());
  if (jobs.empty()) return fail(Errc::kNotFound, "no such job runs here; is LIVEBTL_RUNDIR right?");
  return fail(Errc::kInvalid, "several jobs run here; name one with --job");
}

Result<View> ask_counts(control::JobLinks& links, TimeNs timeout, std::uint32_t epoch_min) {
  Questions questions(links, epoch_min);
  const TimeNs deadline = monotonic_now() + timeout;
  TimeNs ask_at = 0;
  while (!questions.complete()) {
    const TimeNs now = monotonic_now();
    if (now >= deadline) {
      return fail(Errc::kTimeout, std::to_string(questions.silent()) + " members did not answer");
    }
    if (now >= ask_at) {
      questions.ask();
      ask_at = now + kAskAgain;
    }
    if (auto heard = links.receive(std::min(deadline, ask_at) - now)) questions.take(*heard);
  }
  return questions.view();
}

std::optional<control::Outcome> order(control::JobLinks& links, const std::string& verb,
                                      const std::vector<std::string>& arguments, TimeNs timeout,
                                      const std::atomic<bool>& stop) {
  control::Command command;
  command.job = links.job();
  command.verb = verb;
  command.arguments = arguments;
  command.coordinator = random_u64() | 1;
  command.operation = random_u64() | 1;
  command.times = control::times_within(timeout);
  return control::drive(links, command, {}, stop);
}

}  // namespace livebtl::e2e
