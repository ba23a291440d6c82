// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/membership.h -- the check whether some processes are one job, and all of it, by
// what the launcher told each of them. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace livebtl::control {

struct Counted {
  std::string name;
  int rank = -1;  // -1: not known
  // Number of initial processes of its job; 0: it was spawned, or has not said. 1 without a rank:
  // it was not told how many.
  std::uint32_t announced = 0;
  bool answered = true;  // false: known from others' lists only
};

/// The sign that several jobs go by one name, and what to do about it; "": there is none.
std::string several_jobs(const std::string& job, const std::vector<Counted>& live);

/// The processes that the launcher announced and that are neither found nor proved gone. Others,
/// such as spawned ones, do not count; one that has not answered counts as announced.
struct Missing {
  std::uint32_t count = 0;
  std::uint32_t announced = 0;
  std::vector<int> ranks;  // empty if ranks are not known; at most 1024

  /// For the user, if count is not 0.
  std::string text() const;
};
/// gone_ranks, gone: the announced processes that are proved gone: their ranks, where known, and
/// their number.
Missing missing_members(const std::vector<Counted>& live, const std::set<int>& gone_ranks,
                        std::size_t gone);

}  // namespace livebtl::control
