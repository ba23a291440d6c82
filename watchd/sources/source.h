// SPDX-License-Identifier: BSD-3-Clause
// watchd/sources/source.h -- the interface to one source of notices. look() runs in a thread of the source's own
// (poller.h), the rest in the main thread, perhaps at the same time.
#pragma once

#include "watchd/events/event_machine.h"

namespace livebtl::watchd {

class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  virtual const char* name() const noexcept = 0;
  /// How long to wait between two looks.
  virtual TimeNs interval() const noexcept = 0;
  /// What the source says now; bounded in time. Errors: it does not answer, or is not understood.
  virtual Result<Report> look() = 0;
  /// Tells it that the event may begin.
  virtual Outcome acknowledge(const std::string&, TimeNs) {
    return {Outcome::Kind::kDone, "nobody is told"};
  }
  /// An event of this source has come to a state.
  virtual void note(const Entry&) {}
  /// Makes a look() that is under way end soon.
  virtual void stop() {}
};

}  // namespace livebtl::watchd
