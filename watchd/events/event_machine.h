// SPDX-License-Identifier: BSD-3-Clause
// watchd/events/event_machine.h -- decides what to do about this machine's upcoming events: when
// the job lets go of its devices, when a source is told, when the job returns. Pure: no clock, no
// process, no network; owns its events. One thread.
//
// An event is seen, preparing, released, acknowledging, acknowledged, over, returned, in this
// order; from seen or preparing it goes to missed if it begins first, and from there to over. If no
// source is to be told, it stays released.
//
// Each state becomes an Entry before the step that it announces, so that a restart knows of the
// step. Preparing and returning are repeated: they find done what is done. Acknowledging is never
// repeated, unless the source certainly did not take it.
#pragma once

#include <array>
#include <map>

#include "watchd/events/backoff.h"
#include "watchd/events/entry.h"

namespace livebtl::watchd {

struct Policy {
  TimeNs lead = 60 * kSecond;             // how long before its start an event is prepared for
  TimeNs prepare_timeout = 30 * kSecond;  // of one call
  TimeNs return_timeout = 10 * kSecond;
  TimeNs margin = kSecond;            // time left before a start, after a call
  TimeNs lost_after = 900 * kSecond;  // a source silent this long after a start: event over
  std::array<bool, kKinds> kinds = {true, true, true, true, true, true, true, true};
  bool acknowledges = true;
  Backoff prepare_again = {kSecond / 2, 5 * kSecond};
  Backoff return_again = {kSecond, 30 * kSecond};
};

struct Action {
  enum class Do : std::uint8_t { kWait, kPrepare, kAcknowledge, kReturn };
  Do what = Do::kWait;
  TimeNs until = kNoDeadline;   // kWait: then ask again; else: by then it must have ended
  std::string source, id = {};  // of the event
};

/// What came of an action.
struct Outcome {
  enum class Kind : std::uint8_t {
    kDone,
    kNotDone,  // nothing was changed, or not all; may be tried again
    kUnknown,  // no answer: it may have been done
  };
  Kind kind = Kind::kDone;
  std::string text = {};
};

class EventMachine {
 public:
  EventMachine(const Policy& policy, std::uint64_t seed) : policy_(policy), random_(seed) {}

  /// Takes a line of the journal; all in order, before all else.
  void replay(const Entry& entry, Now now);
  void take(const Report& report, Now now);

  /// What to do now. The caller does it, unless it is kWait, and then calls ended().
  Action next(Now now);
  void ended(const Action& action, const Outcome& outcome, Now now);

  /// New entries since the last call, to be written down before the action is done.
  std::vector<Entry> entries();
  bool idle() const noexcept { return events_.empty(); }

 private:
  struct Event {
    Notice notice;
    State state = State::kSeen;
    bool called = false;
    bool over = false;
    TimeNs start = kNoDeadline;
    TimeNs next_try = 0;
    unsigned failures = 0;
    std::string why = {};  // the last failure
  };
  using Key = std::pair<std::string, std::string>;  // source, id
  using Events = std::map<Key, Event>;

  void take_notice(const Key& key, const Notice& notice, Now now);
  void refresh(Event& event, const Notice& notice, Now now) const;
  void reopen(const Key& key, Event& event, Now now, const std::string& text);
  void pass(const Key& key, Event& event, Now now, const std::string& text);
  void drop_lost(Now now);
  void move(const Key& key, Event& event, State state, Now now, const std::string& text = {});
  TimeNs begins_at(const Event& event) const noexcept;
  bool acknowledges(const Event& event) const noexcept;
  bool is_kept_away() const noexcept;
  void miss_late(Now now);
  Events::iterator most_urgent(Now now);
  Action prepare(const Key& key, Event& event, Now now);
  bool returns(Now now, Action& action);
  TimeNs wake_at(Now now) const noexcept;
  void prepared(const Key& key, Event& event, const Outcome& outcome, Now now);
  void acknowledged(const Key& key, Event& event, const Outcome& outcome, Now now);
  void returned(const Outcome& outcome, Now now);

  const Policy policy_;
  Random random_;
  Events events_;
  std::map<std::string, TimeNs> heard_;  // when a source last answered
  std::vector<Entry> entries_;
  unsigned return_failures_ = 0;
  TimeNs next_return_ = 0;
};

}  // namespace livebtl::watchd
