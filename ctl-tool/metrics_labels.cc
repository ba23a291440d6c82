// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/metrics_labels.cc -- see metrics_labels.h.
#include "ctl-tool/metrics_labels.h"

#include <map>
#include <set>
#include <utility>

namespace livebtl::tool {
namespace {

using control::PageView;

/// The rank, or the process's name if it has none: as many values as processes.
std::string rank_label(const PageView& page) {
  return page.rank >= 0 ? std::to_string(page.rank) : control::process_name(page.member.process);
}

/// Each process once: its owner may have copied its files into another directory.
std::vector<const PageView*> each_once(const std::vector<const Pages*>& places) {
  std::vector<const PageView*> pages;
  std::set<ProcessId> seen;
  for (const Pages* place : places) {
    for (const PageView& page : place->pages) {
      if (seen.insert(page.member.process).second) pages.push_back(&page);
    }
  }
  return pages;
}

CountedJob count_job(const std::vector<const Pages*>& places) {
  CountedJob job;
  job.labels = {{"user", places.front()->user}, {"mpi_job", places.front()->job}};
  const auto pages = each_once(places);
  for (const Pages* place : places) job.unread += place->unread.size();
  job.processes = pages.size() + job.unread;
  std::map<std::string, int> times;
  for (const PageView* page : pages) ++times[rank_label(*page)];
  for (const PageView* page : pages) {
    CountedProcess one{page, job.labels, control::process_name(page->member.process)};
    const std::string rank = rank_label(*page);
    one.labels.emplace_back("rank", rank);
    if (times[rank] > 1) one.labels.emplace_back("process", std::exchange(one.process, ""));
    job.read.push_back(std::move(one));
  }
  return job;
}

}  // namespace

std::vector<CountedJob> counted_jobs(const std::vector<Pages>& jobs) {
  std::map<std::pair<std::string, std::string>, std::vector<const Pages*>> by_name;
  for (const Pages& job : jobs) by_name[{job.user, job.job}].push_back(&job);
  std::vector<CountedJob> counted;
  counted.reserve(by_name.size());
  for (const auto& [name, places] : by_name) counted.push_back(count_job(places));
  return counted;
}

}  // namespace livebtl::tool
