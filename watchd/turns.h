// SPDX-License-Identifier: BSD-3-Clause
// watchd/turns.h -- in which order the jobs of this node are served, and how much of the time each
// gets: users take turns, so that no user's jobs, however many and silent, keep another's from
// being served. Pure: no clock, no process; owns the jobs. One thread.
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
inline constexpr TimeNs kTurnUsual = kSecond;  // a job's turn, if its user has more time than that
inline constexpr TimeNs kTurnLeast =
    kSecond / 4;  // ... and at least: btlctl could do nothing in less

class Turns {
 public:
  /// At most kJobsOfUserMax of each user's jobs are served.
  explicit Turns(std::vector<Job> jobs);

  struct Turn {
    Job job;
    TimeNs until = 0;
  };
  /// All users get equal shares of the time left, and a user's jobs equal shares of the user's.
  /// nullopt: no job is left, or no time.
  std::optional<Turn> next(TimeNs now, TimeNs until);

  /// Jobs that had no turn yet.
  std::size_t left() const noexcept;
  /// The user who has too many jobs, and how many get no turn; "": no user.
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
