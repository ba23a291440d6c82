// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_series.h -- a directory with sets of one job, each in a directory of its own that is named by the time
// when it was begun: what the next is called, and which are old enough to go. Used by btlctl's one thread; owns the lock
// that keeps a second series out.
#pragma once

#include "hypervisor/set/set_directory.h"

namespace livebtl::hypervisor {

inline constexpr std::size_t kKeptSetsMax = 10'000;

class SetSeries {
 public:
  /// Makes the directory (0700) if it is not there. Errors: kNotFound, kAuth; kRefused: another
  /// command makes sets in it.
  static Result<SetSeries> open(const std::string& path);
  /// For a dry run: makes nothing, and a directory that is not there is a series without sets. Errors: as of open().
  static Result<SetSeries> look(const std::string& path);

  /// The path of a set that is begun at that time: later than all that are there. Of a series whose directory is not there
  /// that directory: whether it can be made is what a dry run can say.
  std::string next(std::int64_t unix_s) const;
  /// Keeps so many of the sets that are whole, `newest` among them, and removes those that are
  /// older, with what killed calls have left. Returns a line for each that was removed, or that
  /// cannot be. `machines`: of the job.
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

/// "20261126T120000Z", as a set of a series is called.
bool is_set_name(const std::string& name);

/// "90s", "30m", "6h", "1d" in seconds; nullopt: anything else, less than a minute or more than 366
/// days.
std::optional<double> read_interval(const std::string& text);

}  // namespace livebtl::hypervisor
