// SPDX-License-Identifier: BSD-3-Clause
// watchd/watcher.cc -- see watcher.h.
#include "watchd/watcher.h"

#include <poll.h>

#include <algorithm>
#include <cstdio>

#include "base/log.h"

namespace livebtl::watchd {
namespace {

constexpr TimeNs kSleepMax = 3600 * kSecond;

Now now_on_both() { return {monotonic_now(), static_cast<UnixNs>(unix_now_ns())}; }

bool signalled(int signals) {
  pollfd watched{signals, POLLIN, 0};
  return signals >= 0 && ::poll(&watched, 1, 0) > 0;
}

LogLevel level_of(const Entry& entry) {
  return entry.state == State::kMissed ? LogLevel::kError : LogLevel::kInfo;
}

}  // namespace

Watcher::Watcher(const Settings& settings, Parts parts, std::uint64_t seed)
    : settings_(settings),
      parts_(std::move(parts)),
      orders_(settings_),
      events_(settings_.policy, seed),
      seed_(seed) {}

Status Watcher::begin() {
  if (!parts_.journal) return {};
  std::vector<std::string> warnings;
  const auto entries = parts_.journal->read(warnings);
  if (!entries) return tl::unexpected(entries.error());
  for (const std::string& warning : warnings)
    log(LogLevel::kWarn, "journal", "%s", warning.c_str());
  for (const Entry& entry : *entries) {
    events_.replay(entry, now_on_both());
    tell_source(entry);
  }
  if (!events_.idle())
    log(LogLevel::kInfo, "journal",
        "goes on with events that were not over when livebtl-watchd ended");
  return {};
}

/// Tells a source what was done. A dry run does nothing, and its word would be taken for the
/// running livebtl-watchd's: `released`, while the job still has its devices.
void Watcher::tell_source(const Entry& entry) {
  if (!parts_.journal) return;
  for (const auto& source : parts_.sources)
    if (source->name() == entry.source) source->note(entry);
}

void Watcher::write_down() {
  for (const Entry& entry : events_.entries()) {
    if (!parts_.journal) {
      std::printf("%s\n", entry_line(entry).c_str());
    } else if (const Status appended = parts_.journal->append(entry); !appended) {
      written_ = false;
      log(LogLevel::kError, "journal", "%s", appended.error().text.c_str());
    } else {
      written_ = true;
    }
    log(level_of(entry), "event", "source=%s event=%s kind=%s state=%s %s", entry.source.c_str(),
        entry.notice.id.c_str(), kind_name(entry.notice.kind), state_name(entry.state),
        entry.text.c_str());
    tell_source(entry);
  }
}

void Watcher::take(Source& source, const Result<Report>& report) {
  unsigned& failures = failures_[&source];
  if (!report) {
    all_done_ = false;
    ++failures;
    if ((failures & (failures - 1)) == 0)
      log(LogLevel::kWarn, source.name(),
          "no notices can be read, %u times now; jobs are left as they are: %s", failures,
          report.error().text.c_str());
    return;
  }
  if (failures > 0) log(LogLevel::kInfo, source.name(), "answers again");
  failures = 0;
  events_.take(*report, now_on_both());
  write_down();
}

/// What may be done only once is not done if it cannot be remembered.
Outcome Watcher::acknowledge(const Action& action) {
  if (!parts_.journal)
    return {Outcome::Kind::kDone, "dry run: the source would be told that the event may begin"};
  if (!written_)
    return {Outcome::Kind::kNotDone, "the source is not told, as the journal cannot be written"};
  for (const auto& source : parts_.sources)
    if (source->name() == action.source) return source->acknowledge(action.id, action.until);
  return {Outcome::Kind::kUnknown, "the source is not watched any more"};
}

Outcome Watcher::perform(const Action& action) {
  if (action.what == Action::Do::kAcknowledge) return acknowledge(action);
  const bool prepares = action.what == Action::Do::kPrepare;
  if (!parts_.journal)
    return {Outcome::Kind::kDone, prepares ? "dry run: btlctl checkpoint prepare would be called"
                                           : "dry run: btlctl checkpoint return would be called"};
  return prepares ? orders_.prepare(action.until) : orders_.give_back(action.until);
}

/// Takes reports that came meanwhile between two steps: an event may be withdrawn.
TimeNs Watcher::do_what_is_due(int signals) {
  for (;;) {
    for (const Delivery& delivery : mailbox_.take_all()) take(*delivery.source, delivery.report);
    const Action action = events_.next(now_on_both());
    write_down();
    if (action.what == Action::Do::kWait || signalled(signals)) return action.until;
    const Outcome outcome = perform(action);
    all_done_ = all_done_ && outcome.kind == Outcome::Kind::kDone;
    events_.ended(action, outcome, now_on_both());
    write_down();
  }
}

void Watcher::run(int signals) {
  std::vector<std::unique_ptr<Poller>> pollers;
  for (const auto& source : parts_.sources)
    pollers.push_back(std::make_unique<Poller>(*source, mailbox_, seed_ + pollers.size() + 1));
  while (!signalled(signals)) {
    const TimeNs until = do_what_is_due(signals);
    const TimeNs left = std::clamp<TimeNs>(until - monotonic_now(), 0, kSleepMax);
    pollfd watched[2] = {{mailbox_.bell().fd(), POLLIN, 0}, {signals, POLLIN, 0}};
    ::poll(watched, 2, static_cast<int>((left + kMillisecond - 1) / kMillisecond));
  }
}

bool Watcher::once() {
  all_done_ = true;
  for (const auto& source : parts_.sources) take(*source, source->look());
  do_what_is_due(-1);
  return all_done_;
}

}  // namespace livebtl::watchd
