// SPDX-License-Identifier: BSD-3-Clause
// watchd/turns.h -- in which order the jobs of this node are served, and how much of the time each gets: users take turns,
// so that no user's jobs, however many and silent, keep those of another from it. Pure: no clock, no process; owns the
// jobs. One thread.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace livebtl::watchd {

struct Job {
  std::string id, user;  // user: "": of a job elsewhere, behind a relay
};

inline constexpr std::size_t kJobsOfUserMax = 256;
inline constexpr TimeNs kTurnUsual = kSecond;  // a job gets so much, if its user has more than that
inline constexpr TimeNs kTurnLeast =
    kSecond / 4;  // ... and never less: btlctl could do nothing in it

class Turns {
 public:
  /// Of each user's jobs no more than kJobsOfUserMax are served.
  explicit Turns(std::vector<Job> jobs);

  struct Turn {
    Job job;
    TimeNs until = 0;
  };
  /// All users get the same share of what is left until then, and a user's jobs the same share of the user's.
  /// nullopt: there is no job left, or no time.
  std::optional<Turn> next(TimeNs now, TimeNs until);

  /// Jobs that had no turn yet.
  std::size_t left() const noexcept;
  /// Whose jobs are too many, and how many get no turn; "": nobody's.
  const std::string& too_many() const noexcept { return too_many_; }

 private:
  struct User {
    std::string name;
    std::deque<std::string> jobs;  // at least one
  };
  std::deque<User> users_;  // the first one's turn is next
  std::string too_many_;
};

}  // namespace livebtl::watchd
