// SPDX-License-Identifier: BSD-3-Clause
// watchd/events/notice.h -- what a source of notices says: this machine's upcoming events, and
// when. Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace livebtl::watchd {

enum class Kind : std::uint8_t {
  kFreeze,       // the machine stands still for seconds
  kMigrate,      // it is moved while it runs
  kReboot,       // it restarts where it is
  kRedeploy,     // it restarts elsewhere
  kTerminate,    // it ends
  kPreempt,      // it ends: it was rented as one that may be taken back
  kDrain,        // it should get no new jobs
  kMaintenance,  // something else
};
inline constexpr std::size_t kKinds = 8;

const char* kind_name(Kind kind) noexcept;
/// nullopt: there is no kind of that name.
std::optional<Kind> read_kind(std::string_view name) noexcept;

/// Nanoseconds since 1970.
using UnixNs = std::int64_t;

/// The same moment on both clocks: deadlines are on the monotonic one, sources name times on the
/// other.
struct Now {
  TimeNs monotonic = 0;
  UnixNs unix = 0;
};

struct Notice {
  std::string id;  // of the event, as its source names it; unique there
  Kind kind = Kind::kMaintenance;
  std::optional<UnixNs> start = std::nullopt;       // nullopt: the source names none
  std::optional<TimeNs> usual_lead = std::nullopt;  // without a start: from notice to event
  bool begun = false;
  bool acknowledgeable = false;  // may begin earlier, if told that all is ready
  std::string text = {};         // the source's own words
};

/// One answer of a source.
struct Report {
  std::string source;
  bool whole = true;  // all events: others of this source are over
  std::vector<Notice> notices = {};
  std::vector<std::string> ended = {};  // ids
};

inline constexpr std::size_t kNoticesMax = 256;  // of one answer
inline constexpr std::size_t kIdBytesMax = 128;
inline constexpr std::size_t kTextBytesMax = 300;

/// Is it an id that may come from outside: printable ASCII without blanks, quotes or backslashes?
bool well_formed_event_id(std::string_view id) noexcept;
/// Shortened, and without what must not reach a log.
std::string plain_text(std::string_view text);

}  // namespace livebtl::watchd
