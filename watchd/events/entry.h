// SPDX-License-Identifier: BSD-3-Clause
// watchd/events/entry.h -- a line of the journal: an event has come to a state. Written before the
// step that it announces, and read after a restart. Pure; what is read is checked.
#pragma once

#include "livebtl/result.h"
#include "watchd/events/notice.h"

namespace livebtl::watchd {

enum class State : std::uint8_t {
  kSeen,           // nothing was done yet
  kPreparing,      // btlctl was called, or is about to be
  kReleased,       // the job has let go of its devices
  kAcknowledging,  // the source is about to be told
  kAcknowledged,
  kMissed,    // it began before all was released
  kOver,      // the event has passed or was withdrawn; the job is about to return
  kReturned,  // nothing is left to do
};
inline constexpr std::size_t kStates = 8;

const char* state_name(State state) noexcept;

struct Entry {
  UnixNs at = 0;
  std::string source;
  Notice notice;
  State state = State::kSeen;
  bool called = false;    // btlctl may have changed something for this event
  std::string text = {};  // for people
};

/// One line of JSON, without the line feed.
std::string entry_line(const Entry& entry);
/// Errors: kInvalid: not such a line.
Result<Entry> read_entry(std::string_view line);

}  // namespace livebtl::watchd
