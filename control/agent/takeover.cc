// SPDX-License-Identifier: BSD-3-Clause
// control/agent/takeover.cc -- see takeover.h.
#include "control/agent/takeover.h"

#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "control/agent/helper.h"
#include "control/client/discovery.h"
#include "control/wire/relay_talk.h"

namespace livebtl::control {
namespace {

constexpr TimeNs kBeginsWithin = 20 * kSecond;

}  // namespace

Takeover::Takeover(const JobFacts& job, MemberId self)
    : job_(job), self_(self), watch_(random_u64()) {}

TimeNs Takeover::wake_at(const MemberMachine& member) const noexcept {
  if (!helper_.empty()) return INT64_MAX;
  return begin_by_ != INT64_MAX ? begin_by_ : watch_.due_at(member);
}

void Takeover::turn(const MemberMachine& member, SpareDescriptors& spares, TimeNs now) {
  if (!helper_.empty()) return;
  if (begin_by_ != INT64_MAX) {
    if (now >= begin_by_) end(true, now);
    return;
  }
  if (!watch_.due(member, now)) return;
  const WithSpares room(spares);
  const std::size_t before = before_us();
  const bool left_alone = watch_.left_alone(before);
  if (before == 0 || left_alone) return start(left_alone, now);
  watch_.not_ours(now);
}

/// How many members of this node come before us; cards are sorted by rank.
std::size_t Takeover::before_us() const {
  const auto cards = scan_members(job_.directory, ::geteuid()).live;
  const std::string node = process_name(ProcessId{job_.node});
  std::size_t before = 0;
  for (const MemberCard& card : cards) {
    if (card.member == self_) break;
    before += card.joined && card.node == node;
  }
  return before;
}

void Takeover::start(bool left_alone, TimeNs now) {
  const auto started =
      start_helper(helper_program(job_.relay_path),
                   {left_alone ? "finish-left-alone" : "finish", job_.directory,
                    process_name(ProcessId{job_.node}), job_.id, process_name(self_.process)});
  if (started) {
    begin_by_ = now + kBeginsWithin;
    return;
  }
  if (started.error().text != said_) {
    said_ = started.error().text;
    log(LogLevel::kWarn, "agent", "cannot finish a switch that was left: %s", said_.c_str());
  }
  watch_.tried(true, now);
}

void Takeover::hear(const Router::Note& note, TimeNs now) {
  if (!note.body) {
    if (note.peer == helper_) end(true, now);
    return;
  }
  if (helper_.empty() && begin_by_ != INT64_MAX && note.body->empty()) {
    helper_ = note.peer;
    begin_by_ = INT64_MAX;
  }
  if (note.peer != helper_ || note.body->empty()) return;
  const auto [result, text] = first_line(*note.body);
  const bool done = result == kFinishedDone;
  if (!text.empty()) {
    log(done ? LogLevel::kInfo : LogLevel::kWarn, "agent",
        "a switch whose coordinator fell silent was taken over: %s", std::string(text).c_str());
  }
  if (result != kFinishedNotOurs) return end(!done, now);
  helper_.clear();
  watch_.not_ours(now);
}

void Takeover::end(bool in_vain, TimeNs now) {
  helper_.clear();
  begin_by_ = INT64_MAX;
  watch_.tried(in_vain, now);
}

}  // namespace livebtl::control
