// SPDX-License-Identifier: BSD-3-Clause
// watchd/sources/local.h -- the site's own sources: Slurm's word on this node, and a file. Threads:
// as in source.h.
#pragma once

#include <atomic>

#include "watchd/settings.h"
#include "watchd/sources/source.h"

namespace livebtl::watchd {

class SlurmSource : public Source {
 public:
  SlurmSource(const Settings& settings, std::string node);
  const char* name() const noexcept override { return "slurm"; }
  TimeNs interval() const noexcept override { return interval_; }
  Result<Report> look() override;
  void stop() override { stop_ = true; }

 private:
  const std::vector<std::string> command_;
  const std::string node_;
  const TimeNs interval_;
  std::atomic<bool> stop_{false};
};

/// No file: no events. Beside it, FILE.state names the state of each event that was seen.
class FileSource : public Source {
 public:
  explicit FileSource(const Settings& settings);
  const char* name() const noexcept override { return "file"; }
  TimeNs interval() const noexcept override { return interval_; }
  Result<Report> look() override;
  void note(const Entry& entry) override;

 private:
  const std::string path_;
  const TimeNs interval_;
  std::map<std::string, Entry> states_;  // the main thread's
};

}  // namespace livebtl::watchd
