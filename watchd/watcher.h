// SPDX-License-Identifier: BSD-3-Clause
// watchd/watcher.h -- puts sources, events, journal and orders together. Main thread only; owns
// them all.
#pragma once

#include <memory>

#include "watchd/job_orders.h"
#include "watchd/journal.h"
#include "watchd/poller.h"

namespace livebtl::watchd {

struct Parts {
  std::vector<std::unique_ptr<Source>> sources;
  std::optional<Journal> journal;  // none: a dry run, which writes to standard output
};

class Watcher {
 public:
  Watcher(const Settings& settings, Parts parts, std::uint64_t seed);

  /// Goes on where the journal ends.
  Status begin();
  /// Runs until `signals` has a signal to read.
  void run(int signals);
  /// Asks each source once and does what is due. false: a source did not answer, or something must
  /// be tried again.
  bool once();

 private:
  void take(Source& source, const Result<Report>& report);
  /// Returns the time until which there is nothing to do.
  TimeNs do_what_is_due(int signals);
  Outcome perform(const Action& action);
  Outcome acknowledge(const Action& action);
  void write_down();
  void tell_source(const Entry& entry);

  Settings settings_;
  Parts parts_;
  JobOrders orders_;
  EventMachine events_;
  Mailbox mailbox_;
  const std::uint64_t seed_;
  std::map<Source*, unsigned> failures_;
  bool written_ = true;   // the last line of the journal
  bool all_done_ = true;  // since once() began
};

}  // namespace livebtl::watchd
