// SPDX-License-Identifier: BSD-3-Clause
// watchd/events/event_machine.cc -- see event_machine.h: what comes in.
#include "watchd/events/event_machine.h"

#include <algorithm>

namespace livebtl::watchd {
namespace {

constexpr std::size_t kEventsMax = 1024;

bool ends(State state) noexcept { return state == State::kReturned; }

/// Of failures in a row the first, and then ever fewer, are worth a line.
bool is_milestone(unsigned failures) noexcept { return (failures & (failures - 1)) == 0; }

}  // namespace

std::vector<Entry> EventMachine::entries() { return std::exchange(entries_, {}); }

void EventMachine::move(const Key& key, Event& event, State state, Now now,
                        const std::string& text) {
  event.state = state;
  entries_.push_back({now.unix, key.first, event.notice, state, event.called, text});
}

/// If the last line announces an acknowledgement, nobody knows whether it was received. It is not
/// repeated: the event then begins at the time that its source named.
void EventMachine::replay(const Entry& entry, Now now) {
  const Key key{entry.source, entry.notice.id};
  heard_.try_emplace(entry.source, now.monotonic);
  if (ends(entry.state)) {
    events_.erase(key);
    return;
  }
  if (events_.size() >= kEventsMax && !events_.contains(key)) return;
  Event& event = events_[key];
  event.state = entry.state == State::kAcknowledging ? State::kAcknowledged : entry.state;
  event.called = entry.called;
  event.over = entry.state == State::kOver;
  refresh(event, entry.notice, now);
}

/// A start that was only estimated when its notice was first seen stays as it was. An event that
/// has begun, or was to, may still leave time: one call is tried, timed from when that was first
/// seen.
void EventMachine::refresh(Event& event, const Notice& notice, Now now) const {
  const auto known = event.notice.start;
  const TimeNs before = event.start;
  event.notice = notice;
  if (!event.notice.start) {
    event.notice.start = known;
    if (!known && notice.usual_lead) event.notice.start = now.unix + *notice.usual_lead;
  }
  if (event.notice.start) {
    // Times in other centuries are well-formed as well.
    constexpr TimeNs kFar = kSecond * 86'400 * 10'000;
    event.start = now.monotonic - now.unix +
                  std::clamp(*event.notice.start, now.unix - kFar, now.unix + kFar);
  }
  if (notice.begun || event.start <= now.monotonic)
    event.start = std::min(before, now.monotonic + policy_.prepare_timeout);
}

void EventMachine::take(const Report& report, Now now) {
  heard_[report.source] = now.monotonic;
  for (const Notice& notice : report.notices) take_notice({report.source, notice.id}, notice, now);
  std::vector<Key> gone;
  for (const auto& [key, event] : events_) {
    if (key.first != report.source || event.over) continue;
    const auto same = [&id = key.second](const Notice& notice) { return notice.id == id; };
    const bool listed = std::any_of(report.notices.begin(), report.notices.end(), same);
    const bool ended =
        std::find(report.ended.begin(), report.ended.end(), key.second) != report.ended.end();
    if (ended || (report.whole && !listed)) gone.push_back(key);
  }
  for (const Key& key : gone)
    pass(key, events_.at(key), now, key.first + " does not name it any more");
}

void EventMachine::take_notice(const Key& key, const Notice& notice, Now now) {
  const auto found = events_.find(key);
  if (found == events_.end()) {
    if (!policy_.kinds[static_cast<std::size_t>(notice.kind)] || events_.size() >= kEventsMax)
      return;
    Event& event = events_[key];
    refresh(event, notice, now);
    return move(key, event, State::kSeen, now);
  }
  Event& event = found->second;
  if (event.over) event.start = kNoDeadline;
  refresh(event, notice, now);
  if (event.over) return reopen(key, event, now, key.first + " names it again");
  if (event.state == State::kMissed && event.start > now.monotonic)
    reopen(key, event, now, "it was put off");
}

/// The event was thought over, and the job may be on its way back; or it did not begin on time.
void EventMachine::reopen(const Key& key, Event& event, Now now, const std::string& text) {
  event.over = false;
  event.failures = 0;
  event.next_try = 0;
  move(key, event, State::kSeen, now, text);
}

/// An event for which nothing was done needs no return.
void EventMachine::pass(const Key& key, Event& event, Now now, const std::string& text) {
  event.over = true;
  move(key, event, State::kOver, now, text);
  if (event.called) return;
  move(key, event, State::kReturned, now, "nothing was done for it");
  events_.erase(key);
}

/// A source that never answers again would keep the job from its devices for ever.
void EventMachine::drop_lost(Now now) {
  std::vector<Key> lost;
  for (const auto& [key, event] : events_) {
    const TimeNs silent_for = now.monotonic - heard_[key.first];
    const bool begun = event.start == kNoDeadline || event.start <= now.monotonic;
    if (!event.over && begun && silent_for >= policy_.lost_after) lost.push_back(key);
  }
  for (const Key& key : lost)
    pass(key, events_.at(key), now, key.first + " has been silent for too long: taken for over");
}

void EventMachine::ended(const Action& action, const Outcome& outcome, Now now) {
  if (action.what == Action::Do::kReturn) return returned(outcome, now);
  const auto found = events_.find({action.source, action.id});
  if (found == events_.end()) return;
  if (action.what == Action::Do::kPrepare)
    return prepared(found->first, found->second, outcome, now);
  acknowledged(found->first, found->second, outcome, now);
}

void EventMachine::prepared(const Key& key, Event& event, const Outcome& outcome, Now now) {
  if (outcome.kind == Outcome::Kind::kDone) {
    event.failures = 0;
    return move(key, event, State::kReleased, now, outcome.text);
  }
  ++event.failures;
  const bool news = outcome.text != event.why || is_milestone(event.failures);
  event.why = outcome.text;
  // Without a start there is no hurry.
  const bool urgent = event.start != kNoDeadline;
  const Backoff& again = urgent ? policy_.prepare_again : policy_.return_again;
  event.next_try = now.monotonic + again.delay(event.failures, random_);
  // A call that would end after the start is of no use.
  if (urgent && event.next_try > event.start - policy_.margin) event.next_try = event.start;
  if (news) move(key, event, State::kPreparing, now, outcome.text);
}

void EventMachine::acknowledged(const Key& key, Event& event, const Outcome& outcome, Now now) {
  if (outcome.kind != Outcome::Kind::kNotDone) {
    const bool known = outcome.kind == Outcome::Kind::kDone;
    return move(key, event, State::kAcknowledged, now,
                known ? outcome.text
                      : "not known whether it was received, so not repeated: " + outcome.text);
  }
  event.next_try = now.monotonic + policy_.prepare_again.delay(++event.failures, random_);
  move(key, event, State::kReleased, now, outcome.text);
}

void EventMachine::returned(const Outcome& outcome, Now now) {
  if (outcome.kind != Outcome::Kind::kDone) {
    next_return_ = now.monotonic + policy_.return_again.delay(++return_failures_, random_);
    if (!is_milestone(return_failures_)) return;
    for (auto& [key, event] : events_) {
      if (event.over) move(key, event, State::kOver, now, outcome.text);
    }
    return;
  }
  return_failures_ = 0;
  next_return_ = 0;
  for (auto& [key, event] : events_) {
    if (event.over) move(key, event, State::kReturned, now, outcome.text);
  }
  std::erase_if(events_, [](const auto& each) { return each.second.over; });
}

}  // namespace livebtl::watchd
