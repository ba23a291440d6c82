// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/membership.cc -- see membership.h.
#include "control/ladder/membership.h"

#include <algorithm>
#include <map>

namespace livebtl::control {
namespace {

std::string advice(const std::string& job, const std::string& sign) {
  return "two jobs go by the name " + job + ": " + sign +
         "; end one, or give each its own LIVEBTL_JOB";
}

std::string size_advice(const std::string& job, const std::string& sign) {
  return advice(job, sign) + "; if they are one job, set LIVEBTL_SIZE to the size of it for all";
}

/// A process that knows no rank and announces only itself was told nothing by a launcher: it goes
/// by a name that others may have as well, such as a server and its client (docs/PROVIDER.md).
bool tells_size(const Counted& each) {
  return each.announced > 1 || (each.announced == 1 && each.rank >= 0);
}

}  // namespace

std::string several_jobs(const std::string& job, const std::vector<Counted>& live) {
  std::map<int, const Counted*> by_rank;
  const Counted* first = nullptr;
  std::size_t initial = 0;
  for (const Counted& each : live) {
    const auto [known, is_new] = by_rank.try_emplace(each.rank, &each);
    if (each.rank >= 0 && !is_new) {
      return advice(job, "rank " + std::to_string(each.rank) + " is there twice, as " +
                             known->second->name + " and as " + each.name);
    }
    if (!tells_size(each)) continue;
    ++initial;
    if (first == nullptr) first = &each;
    if (each.announced == first->announced) continue;
    return size_advice(job, first->name + " was started as one of " +
                                std::to_string(first->announced) + ", " + each.name +
                                " as one of " + std::to_string(each.announced));
  }
  if (first == nullptr || initial <= first->announced) return "";
  return size_advice(job, std::to_string(initial) + " processes were each started as one of " +
                              std::to_string(first->announced));
}

std::string Missing::text() const {
  return std::to_string(count) +
         " announced members cannot be found; is their node up, and does it reach this one? See: "
         "btlctl doctor";
}

Missing missing_members(const std::vector<Counted>& live, const std::set<int>& gone_ranks,
                        std::size_t gone) {
  Missing missing;
  std::set<int> seen = gone_ranks;
  std::size_t known = gone;
  for (const Counted& each : live) {
    if (each.answered && !tells_size(each)) continue;
    missing.announced = std::max(missing.announced, each.announced);
    seen.insert(each.rank);
    ++known;
  }
  if (missing.announced <= known) return missing;
  missing.count = missing.announced - static_cast<std::uint32_t>(known);
  if (seen.contains(-1)) return missing;
  const std::size_t wanted = std::min<std::size_t>(missing.count, 1024);
  for (int rank = 0; missing.ranks.size() < wanted; ++rank) {
    if (static_cast<std::uint32_t>(rank) == missing.announced) break;
    if (!seen.contains(rank)) missing.ranks.push_back(rank);
  }
  return missing;
}

}  // namespace livebtl::control
