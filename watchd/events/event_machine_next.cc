// SPDX-License-Identifier: BSD-3-Clause
// watchd/events/event_machine_next.cc -- see event_machine.h: what is to be done next. Pure.
#include <algorithm>

#include "watchd/events/event_machine.h"

namespace livebtl::watchd {

bool EventMachine::acknowledges(const Event& event) const noexcept {
  return policy_.acknowledges && event.notice.acknowledgeable && !event.notice.begun;
}

/// An event that can be acknowledged begins as soon as it is; so it is prepared for at once, and
/// the job lacks its devices only during the event itself. Any other is prepared for as late as is
/// safe.
TimeNs EventMachine::begins_at(const Event& event) const noexcept {
  if (event.start == kNoDeadline || acknowledges(event) || event.notice.begun) return 0;
  return event.start - policy_.lead;
}

/// The job does not return while an event that something was done for is not over.
bool EventMachine::is_kept_away() const noexcept {
  return std::any_of(events_.begin(), events_.end(),
                     [](const auto& each) { return !each.second.over && each.second.called; });
}

void EventMachine::miss_late(Now now) {
  for (auto& [key, event] : events_) {
    const bool waiting = event.state == State::kSeen || event.state == State::kPreparing;
    if (event.over || !waiting || event.start > now.monotonic) continue;
    move(key, event, State::kMissed, now,
         event.called ? "it begins, and not all is released: " + event.why
                      : "it begins, and nothing was prepared");
  }
}

EventMachine::Events::iterator EventMachine::most_urgent(Now now) {
  auto best = events_.end();
  for (auto each = events_.begin(); each != events_.end(); ++each) {
    const Event& event = each->second;
    const bool waiting = event.state == State::kSeen || event.state == State::kPreparing;
    if (event.over || !waiting || event.next_try > now.monotonic ||
        begins_at(event) > now.monotonic)
      continue;
    if (best == events_.end() || event.start < best->second.start) best = each;
  }
  return best;
}

Action EventMachine::prepare(const Key& key, Event& event, Now now) {
  event.called = true;
  return_failures_ = 0;
  next_return_ = 0;
  if (event.state == State::kSeen) move(key, event, State::kPreparing, now);
  TimeNs until = now.monotonic + policy_.prepare_timeout;
  // Even an event seen very late is tried.
  if (event.start != kNoDeadline)
    until = std::min(until, std::max(event.start - policy_.margin, now.monotonic + kSecond));
  return {Action::Do::kPrepare, until, key.first, key.second};
}

/// Returns once for all that are over, unless another event still keeps the job away.
bool EventMachine::returns(Now now, Action& action) {
  const bool over = std::any_of(events_.begin(), events_.end(),
                                [](const auto& each) { return each.second.over; });
  if (!over || is_kept_away() || next_return_ > now.monotonic) return false;
  action = {Action::Do::kReturn, now.monotonic + policy_.return_timeout, {}};
  return true;
}

TimeNs EventMachine::wake_at(Now now) const noexcept {
  TimeNs at = kNoDeadline;
  bool over = false;
  for (const auto& [key, event] : events_) {
    over = over || event.over;
    if (event.over) continue;
    const bool waiting = event.state == State::kSeen || event.state == State::kPreparing;
    if (waiting) at = std::min({at, event.start, std::max(begins_at(event), event.next_try)});
    if (event.state == State::kReleased && acknowledges(event)) at = std::min(at, event.next_try);
    const auto heard = heard_.find(key.first);
    const TimeNs lost =
        (heard == heard_.end() ? now.monotonic : heard->second) + policy_.lost_after;
    at = std::min(at, event.start == kNoDeadline ? lost : std::max(lost, event.start));
  }
  if (over && !is_kept_away()) at = std::min(at, next_return_);
  return at;
}

Action EventMachine::next(Now now) {
  drop_lost(now);
  miss_late(now);
  if (const auto urgent = most_urgent(now); urgent != events_.end())
    return prepare(urgent->first, urgent->second, now);
  for (auto& [key, event] : events_) {
    if (event.over || event.state != State::kReleased || !acknowledges(event) ||
        event.next_try > now.monotonic)
      continue;
    move(key, event, State::kAcknowledging, now);
    return {Action::Do::kAcknowledge, now.monotonic + policy_.return_timeout, key.first,
            key.second};
  }
  Action action;
  if (!returns(now, action)) action.until = wake_at(now);
  return action;
}

}  // namespace livebtl::watchd
