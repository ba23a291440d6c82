// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/places.cc -- see places.h.
#include "hypervisor/criu/places.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <string>
#include <system_error>

#include "base/fd.h"
#include "hypervisor/criu/process_tree.h"
#include "hypervisor/vm/untrusted.h"

namespace livebtl::hypervisor {
namespace {

tl::unexpected<Error> refused(const std::string& directory, const std::string& why) {
  return fail(Errc::kRefused, "'" + one_line(directory) + "' " + why +
                                  ": files of the job that are put back below it could end up "
                                  "elsewhere; move it away, and restore again");
}

/// True if it is there and will do; false if it is not there.
Result<bool> check_directory(const std::string& directory, uid_t owner) {
  struct stat facts {};
  if (::lstat(directory.c_str(), &facts) != 0) {
    if (errno == ENOENT) return false;
    return fail(Errc::kSystem,
                "'" + one_line(directory) + "': " + std::generic_category().message(errno));
  }
  if (S_ISLNK(facts.st_mode)) return refused(directory, "is a symbolic link");
  if (!S_ISDIR(facts.st_mode)) return refused(directory, "is no directory");
  if (facts.st_uid != 0 && facts.st_uid != owner)
    return refused(directory, "belongs to user " + std::to_string(facts.st_uid));
  if ((facts.st_mode & S_IWOTH) != 0 && (facts.st_mode & S_ISVTX) == 0)
    return refused(directory, "can be written by all");
  if ((facts.st_mode & S_IWGRP) != 0 && (facts.st_mode & S_ISVTX) == 0 && facts.st_uid == 0 &&
      facts.st_gid != 0)
    return refused(directory, "can be written by group " + std::to_string(facts.st_gid));
  return true;
}

/// What is to be put back may be there already: a file is replaced, a directory is left as it is.
Status check_target(const std::string& path, uid_t owner) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || facts.st_uid == owner) return {};
  if (S_ISDIR(facts.st_mode) && facts.st_uid == 0) return {};
  return fail(Errc::kRefused, "'" + one_line(path) + "' belongs to user " +
                                  std::to_string(facts.st_uid) +
                                  ", and would be replaced by a file of the job's: move it away, "
                                  "and restore again");
}

bool is_roots_alone(const Fd& directory) {
  struct stat facts {};
  return ::fstat(directory.number(), &facts) == 0 && facts.st_uid == 0 &&
         (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Goes down from the place as long as all is root's; after that the owner's part begins.
Status make_place(const std::string& path, uid_t owner) {
  const std::string place = passing_place(path);
  Fd directory(::open(place.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (auto at = place.size(); directory && is_roots_alone(directory);) {
    const auto end = path.find('/', at + 1);
    if (end == std::string::npos) return {};  // the file itself
    const std::string name = path.substr(at + 1, end - at - 1);
    at = end;
    Fd next(
        ::openat(directory.number(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next && errno != ENOENT) return {};  // unpacking it will tell
    if (next) {
      directory = std::move(next);
      continue;
    }
    if (::mkdirat(directory.number(), name.c_str(), 0700) != 0 ||
        ::fchownat(directory.number(), name.c_str(), owner, with_group(owner).group,
                   AT_SYMLINK_NOFOLLOW) != 0)
      return fail(Errc::kSystem, "'" + one_line(path.substr(0, end)) +
                                     "' cannot be made: " + std::generic_category().message(errno));
    return {};
  }
  return {};
}

}  // namespace

FileOwner with_group(uid_t user) {
  std::array<char, 16384> text{};
  passwd entry{};
  passwd* found = nullptr;
  const bool known =
      ::getpwuid_r(user, &entry, text.data(), text.size(), &found) == 0 && found != nullptr;
  return {user, known ? entry.pw_gid : static_cast<gid_t>(user)};
}

Status make_places(std::string_view list, uid_t owner) {
  if (owner == 0) return {};
  while (!list.empty()) {
    const auto line = list.substr(0, list.find('\n'));
    list.remove_prefix(std::min(list.size(), line.size() + 1));
    if (Status made = make_place("/" + std::string(line), owner); !made) return made;
  }
  return {};
}

Status check_places(std::string_view list, uid_t owner) {
  std::set<std::string> passed;
  while (!list.empty()) {
    const auto line = list.substr(0, list.find('\n'));
    list.remove_prefix(std::min(list.size(), line.size() + 1));
    const std::string path = "/" + std::string(line);
    if (Status target = check_target(path, owner); !target) return target;
    for (auto end = passing_place(path).size(); end != std::string::npos;
         end = path.find('/', end + 1)) {
      const std::string directory = path.substr(0, end);
      if (directory == passing_place(path) || passed.contains(directory)) continue;
      const auto there = check_directory(directory, owner);
      if (!there) return tl::unexpected(there.error());
      if (!*there) break;
      passed.insert(directory);
    }
  }
  return {};
}

}  // namespace livebtl::hypervisor
