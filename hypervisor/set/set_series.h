// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_series.h -- a directory of one job's sets, each in its own directory that is
// named by the time when it was begun: what the next is called, and which are old enough to be
// removed. Used by btlctl's one thread; owns the lock that keeps a second series out.
#pragma once

#include "hypervisor/set/set_directory.h"

namespace livebtl::hypervisor {

inline constexpr std::size_t kKeptSetsMax = 10'000;

class SetSeries {
 public:
  /// Makes the directory (0700) if it is not there. Errors: kNotFound, kAuth; kRefused: another
  /// command makes sets in it.
  static Result<SetSeries> open(const std::string& path);
  /// For a dry run: makes nothing; a directory that is not there is a series without sets. Errors:
  /// as for open().
  static Result<SetSeries> look(const std::string& path);

  /// The path of a set begun at that time: later than all that are there. If the series' directory
  /// is not there, that directory: a dry run can tell whether it can be made.
  std::string next(std::int64_t unix_s) const;
  /// Keeps `keep` whole sets, `newest` among them, and removes older ones along with what killed
  /// calls left. Returns a line for each that was removed or cannot be. `machines`: of the job.
  std::vector<std::string> prune(const std::string& newest, std::size_t keep,
                                 const std::vector<std::string>& machines);

 private:
  static Result<SetSeries> open_there(const std::string& path);
  SetSeries(std::string path, Fd directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}
  std::vector<std::string> names() const;
  std::string remove(const std::string& name, const std::vector<std::string>& machines) const;

  std::string path_;
  Fd directory_;
};

/// Whether it is named like a set of a series: "20261126T120000Z".
bool is_set_name(const std::string& name);

/// "90s", "30m", "6h", "1d" in seconds; nullopt for anything else, less than a minute, or more than
/// 366 days.
std::optional<double> read_interval(const std::string& text);

}  // namespace livebtl::hypervisor
