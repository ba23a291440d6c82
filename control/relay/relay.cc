// SPDX-License-Identifier: BSD-3-Clause
// control/relay/relay.cc -- see relay.h.
#include "control/relay/relay.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "control/place/member_file.h"
#include "control/place/rundir.h"
#include "control/wire/relay_talk.h"

namespace livebtl::control {
namespace {

constexpr TimeNs kFirstMemberWithin = 20 * kSecond;
/// A coordinator on another node asks ten times a second. It is told that nobody is left: silence would prove nothing, and
/// it would wait for those that have gone.
constexpr TimeNs kLastAnswerWithin = 2 * kSecond;
constexpr TimeNs kAskedAtMost = 60 * kSecond;  // nobody keeps a relay of no members for ever
constexpr int kDutyTries = 100;
constexpr std::chrono::milliseconds kDutyPause(20);

/// Members start a relay when they find none, which may be while the last one still ends.
bool take_duty(int lock) {
  for (int i = 0; i < kDutyTries; ++i) {
    if (take_lock(lock)) return true;
    std::this_thread::sleep_for(kDutyPause);
  }
  return false;
}

void sleep_until_something(const Passing& passing, TimeNs until, std::vector<pollfd>& fds) {
  if (passing.pending()) return;
  fds.clear();
  passing.add_poll_fds(fds);
  const TimeNs wake = std::min(until, passing.wake_at());
  const TimeNs left = std::max<TimeNs>(wake - monotonic_now(), 0);
  const timespec limit{static_cast<time_t>(left / kSecond), static_cast<long>(left % kSecond)};
  ::ppoll(fds.data(), fds.size(), wake == INT64_MAX ? nullptr : &limit, nullptr);
}

/// alone_since: when the last member has gone.
TimeNs end_without_members(const Passing& passing, TimeNs begun, TimeNs alone_since) {
  if (!passing.had_members()) return begun + kFirstMemberWithin;
  const TimeNs asked_at = passing.asked_from_away_at();
  return asked_at == 0 ? 0 : std::min(asked_at + kLastAnswerWithin, alone_since + kAskedAtMost);
}

void serve(Passing& passing) {
  std::vector<pollfd> fds;
  const TimeNs begun = monotonic_now();
  TimeNs alone_since = begun;
  for (;;) {
    passing.turn(monotonic_now());
    if (passing.members() != 0) alone_since = monotonic_now();
    const TimeNs end = end_without_members(passing, begun, alone_since);
    if (passing.members() == 0 && monotonic_now() >= end) return;
    sleep_until_something(passing, passing.members() == 0 ? end : INT64_MAX, fds);
  }
}

/// By the directory that was opened at the start: at its path there may be that of a later job.
void remove_sockets(int directory, std::uint64_t node) {
  for (const std::string_view kind : {kRelaySocket, kRelayInnerSocket})
    ::unlinkat(directory, process_file(ProcessId{node}, kind).c_str(), 0);
}

}  // namespace

int run_relay(const RelayFacts& facts) {
  auto directory = open_private_directory(facts.directory, ::geteuid());
  if (!directory) return 1;
  const std::string lock_name = process_file(ProcessId{facts.node}, kRelayLock);
  const Fd lock(::openat(directory->number(), lock_name.c_str(),
                         O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock || !take_duty(lock.number())) return 0;
  auto passing = Passing::open(facts);
  if (passing) serve(*passing);
  remove_sockets(directory->number(), facts.node);
  leave_job_directory(facts.directory, std::make_shared<const Fd>(std::move(*directory)));
  // Not by the end of the scope: ZeroMQ would remove its socket by its path, and wait for what is
  // still to be sent.
  ::_exit(passing ? 0 : 1);
}

}  // namespace livebtl::control
