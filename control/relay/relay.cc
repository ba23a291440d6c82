// SPDX-License-Identifier: BSD-3-Clause
// control/relay/relay.cc -- see relay.h.
#include "control/relay/relay.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "control/place/member_file.h"
#include "control/place/run.h"
#include "control/place/rundir.h"
#include "control/wire/relay_talk.h"

namespace livebtl::control {
namespace {

constexpr TimeNs kFirstMemberWithin = 20 * kSecond;
/// A coordinator on another node asks ten times a second. It is told that nobody is left: silence
/// would prove nothing, and keep it waiting for those that have gone.
constexpr TimeNs kLastAnswerWithin = 2 * kSecond;
constexpr TimeNs kAskedAtMost = 60 * kSecond;  // no relay stays forever without members
constexpr int kDutyTries = 100;
constexpr std::chrono::milliseconds kDutyPause(20);

/// Members start a relay when they find none, perhaps while the last one is still ending.
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

/// alone_since: when the last member left.
TimeNs end_without_members(const Passing& passing, TimeNs begun, TimeNs alone_since) {
  if (!passing.had_members()) return begun + kFirstMemberWithin;
  const TimeNs asked_at = passing.asked_from_away_at();
  return asked_at == 0 ? 0 : std::min(asked_at + kLastAnswerWithin, alone_since + kAskedAtMost);
}

/// What makes this process the node's relay: a file that it has locked. The last member removes it,
/// with all that belongs to the run; after a crash, a later run under the job's name does, and then
/// has its own relay in this directory.
class Duty {
 public:
  enum class State { kOurs, kRemoved, kAnothers };

  Duty(const Fd& directory, const Fd& lock, std::string name)
      : directory_(directory), lock_(lock), name_(std::move(name)) {}

  State state() const {
    struct stat held {
    }, named{};
    if (::fstatat(directory_.number(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0)
      return State::kRemoved;
    const bool same = ::fstat(lock_.number(), &held) == 0 && held.st_dev == named.st_dev &&
                      held.st_ino == named.st_ino;
    return same ? State::kOurs : State::kAnothers;
  }

 private:
  const Fd& directory_;
  const Fd& lock_;
  std::string name_;
};

void serve(Passing& passing, const Duty& duty) {
  std::vector<pollfd> fds;
  const TimeNs begun = monotonic_now();
  TimeNs alone_since = begun;
  for (;;) {
    passing.turn(monotonic_now());
    if (passing.members() != 0) alone_since = monotonic_now();
    const TimeNs end = end_without_members(passing, begun, alone_since);
    const bool alone = passing.members() == 0;
    if (alone && (monotonic_now() >= end || duty.state() == Duty::State::kAnothers)) return;
    sleep_until_something(passing, alone ? end : INT64_MAX, fds);
  }
}

/// Uses the directory that was opened at the start: its path may now lead to a later job's. While
/// the register is locked, nobody enters the directory, so no later run begins between the look and
/// the removal.
void remove_sockets(const RelayFacts& facts, const Fd& directory, const Duty& duty) {
  const auto entries = RunRegister::open(facts.directory, false);
  if (!entries || duty.state() != Duty::State::kOurs) return;
  for (const std::string_view kind : {kRelaySocket, kRelayInnerSocket})
    ::unlinkat(directory.number(), process_file(ProcessId{facts.node}, kind).c_str(), 0);
}

}  // namespace

int run_relay(const RelayFacts& facts) {
  auto directory = open_private_directory(facts.directory, ::geteuid());
  if (!directory) return 1;
  const std::string lock_name = process_file(ProcessId{facts.node}, kRelayLock);
  const Fd lock(::openat(directory->number(), lock_name.c_str(),
                         O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock || !take_duty(lock.number())) return 0;
  const Duty duty(*directory, lock, lock_name);
  auto passing = Passing::open(facts);
  if (passing) serve(*passing, duty);
  remove_sockets(facts, *directory, duty);
  leave_job_directory(facts.directory, std::make_shared<const Fd>(std::move(*directory)));
  // Not by leaving the scope: ZeroMQ would remove its socket by path, and wait for what is still to
  // be sent.
  ::_exit(passing ? 0 : 1);
}

}  // namespace livebtl::control
