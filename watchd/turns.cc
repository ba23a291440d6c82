// SPDX-License-Identifier: BSD-3-Clause
// watchd/turns.cc -- see turns.h. Pure.
#include "watchd/turns.h"

#include <algorithm>
#include <map>
#include <utility>

namespace livebtl::watchd {

Turns::Turns(std::vector<Job> jobs) {
  std::map<std::string, std::deque<std::string>> of_user;
  for (Job& job : jobs) of_user[job.user].push_back(std::move(job.id));
  for (auto& [user, ids] : of_user) {
    if (ids.size() > kJobsOfUserMax) {
      too_many_ += (too_many_.empty() ? "" : "; ") + std::to_string(ids.size() - kJobsOfUserMax) +
                   " jobs of user " + user + " are left as they are: of one user " +
                   std::to_string(kJobsOfUserMax) + " are served";
      ids.resize(kJobsOfUserMax);
    }
    users_.push_back({user, std::move(ids)});
  }
}

std::size_t Turns::left() const noexcept {
  std::size_t count = 0;
  for (const User& user : users_) count += user.jobs.size();
  return count;
}

std::optional<Turns::Turn> Turns::next(TimeNs now, TimeNs until) {
  if (users_.empty() || now >= until) return std::nullopt;
  User user = std::move(users_.front());
  const TimeNs of_user = (until - now) / static_cast<TimeNs>(users_.size());
  const TimeNs of_job = of_user / static_cast<TimeNs>(user.jobs.size());
  // A usual turn out of hardly more time would use up what the user's other jobs have.
  const TimeNs least = of_user > kTurnUsual ? kTurnUsual : kTurnLeast;
  users_.pop_front();
  Turn turn{{std::move(user.jobs.front()), user.name}, now + std::max(of_job, least)};
  user.jobs.pop_front();
  if (!user.jobs.empty()) users_.push_back(std::move(user));
  return turn;
}

}  // namespace livebtl::watchd
