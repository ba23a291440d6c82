// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_series.cc -- see set_series.h.
#include "hypervisor/set/set_series.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "base/text.h"

namespace livebtl::hypervisor {
namespace {

constexpr std::size_t kSetNameBytes = 16;
constexpr double kIntervalMin = 60.0, kIntervalMax = 366.0 * 86'400;

std::string set_name(std::int64_t unix_s) {
  const std::time_t time = unix_s;
  std::tm parts{};
  std::array<char, kSetNameBytes + 8> text{};
  ::gmtime_r(&time, &parts);
  std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
  return text.data();
}

std::int64_t time_of(const std::string& name) {
  std::tm parts{};
  return ::strptime(name.c_str(), "%Y%m%dT%H%M%SZ", &parts) == nullptr ? 0 : ::timegm(&parts);
}

tl::unexpected<Error> series_error(const std::string& path) {
  const Errc code = errno == ENOENT || errno == ENOTDIR ? Errc::kNotFound
                    : errno == EACCES || errno == EROFS ? Errc::kAuth
                                                        : Errc::kSystem;
  return fail(code, path + ": " + std::strerror(errno));
}

bool others_may_write_to(const Fd& directory) {
  struct stat facts {};
  return ::fstat(directory.number(), &facts) != 0 || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
         (facts.st_uid != ::geteuid() && facts.st_uid != 0);
}

}  // namespace

bool is_set_name(const std::string& name) {
  if (name.size() != kSetNameBytes || name[8] != 'T' || name[15] != 'Z') return false;
  return std::count_if(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }) == 14;
}

std::optional<double> read_interval(const std::string& text) {
  if (text.size() < 2 || text.size() > 9) return std::nullopt;
  const auto number = parse_number<unsigned>(text.substr(0, text.size() - 1));
  const std::string_view units = "smhd";
  constexpr double kSeconds[] = {1, 60, 3600, 86'400};
  const auto unit = units.find(text.back());
  if (!number || unit == std::string_view::npos) return std::nullopt;
  const double seconds = *number * kSeconds[unit];
  return seconds >= kIntervalMin && seconds <= kIntervalMax ? std::optional(seconds) : std::nullopt;
}

Result<SetSeries> SetSeries::open(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return series_error(path);
  return open_there(path);
}

Result<SetSeries> SetSeries::look(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0 && errno == ENOENT) return SetSeries(path, Fd());
  return open_there(path);
}

/// What is removed there must be its owner's, so others must not be able to write to it.
Result<SetSeries> SetSeries::open_there(const std::string& path) {
  Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return series_error(path);
  if (others_may_write_to(directory))
    return fail(Errc::kAuth,
                path + ": others may write to it; sets belong in a directory of yours (0700)");
  if (::flock(directory.number(), LOCK_EX | LOCK_NB) != 0)
    return fail(Errc::kRefused,
                path + ": another btlctl vm snapshot makes sets in it; end that first");
  return SetSeries(path, std::move(directory));
}

/// Sets are as old as their names say: if the clock was set back and a set of a later time exists,
/// the next one is named by the second after that.
std::string SetSeries::next(std::int64_t unix_s) const {
  if (!directory_) return path_;
  if (const auto before = names(); !before.empty())
    unix_s = std::max(unix_s, time_of(before.front()) + 1);
  std::string name = set_name(unix_s);
  struct stat facts {};
  while (::fstatat(directory_.number(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0)
    name = set_name(++unix_s);
  return path_ + "/" + name;
}

/// The sets alone, newest first.
std::vector<std::string> SetSeries::names() const {
  std::vector<std::string> names;
  std::error_code broken;
  for (std::filesystem::directory_iterator each(path_, broken), end; !broken && each != end;
       each.increment(broken)) {
    std::error_code unknown;
    if (is_set_name(each->path().filename()) &&
        each->symlink_status(unknown).type() == std::filesystem::file_type::directory)
      names.push_back(each->path().filename());
  }
  std::sort(names.rbegin(), names.rend());
  return names;
}

/// A set may be of other machines than the job has now; one whose set.json cannot be read may be of
/// any, and is left.
std::string SetSeries::remove(const std::string& name,
                              const std::vector<std::string>& machines) const {
  const std::string path = path_ + "/" + name;
  const auto set = SetDirectory(path, machines).read_sealed();
  std::vector<std::string> of_set = machines;
  struct stat facts {};
  const bool sealed = ::stat((path + "/" + kSetFile).c_str(), &facts) == 0;
  if (!set && sealed) return path + " was not removed: " + set.error().text;
  if (set) {
    of_set.clear();
    for (const SavedMachine& machine : set->machines) of_set.push_back(machine.name);
  }
  const auto removed = SetDirectory(path, of_set).remove();
  if (!removed) return path + " was not removed: " + removed.error().text;
  return path + (sealed ? " was removed" : ", which was never finished, was removed");
}

std::vector<std::string> SetSeries::prune(const std::string& newest, std::size_t keep,
                                          const std::vector<std::string>& machines) {
  std::vector<std::string> said;
  std::size_t whole = 0;
  const std::string newest_name = std::filesystem::path(newest).filename();
  for (const std::string& name : names()) {
    if (name > newest_name) continue;  // the clock was set back: that set may still be wanted
    struct stat facts {};
    const bool sealed = ::stat((path_ + "/" + name + "/" + kSetFile).c_str(), &facts) == 0;
    if (sealed && whole < keep) {
      ++whole;
      continue;
    }
    said.push_back(remove(name, machines));
  }
  return said;
}

}  // namespace livebtl::hypervisor
