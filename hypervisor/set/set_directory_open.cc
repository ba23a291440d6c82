// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_directory_open.cc -- opens a set's directory: see set_directory.h. Programs
// are given paths in it, so nobody else may be able to put another directory at its path. Run by
// btlctl's one thread.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "hypervisor/set/set_directory.h"
#include "hypervisor/vm/untrusted.h"

namespace livebtl::hypervisor {
namespace {

bool is_ours(const struct stat& facts) { return facts.st_uid == ::geteuid() || facts.st_uid == 0; }

bool may_be_written(const struct stat& facts) { return (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

/// Why a third user could rename what is in that directory, or put a link in its place; "" if none
/// could. In a directory with the sticky bit, users can rename only what they own.
std::string unsettled(const std::string& directory) {
  struct stat facts {};
  if (::lstat(directory.c_str(), &facts) != 0) return std::strerror(errno);
  if (!S_ISDIR(facts.st_mode)) return "is no directory";
  if (!is_ours(facts)) return "belongs to user " + std::to_string(facts.st_uid);
  const bool open = may_be_written(facts) && (facts.st_mode & S_ISVTX) == 0;
  return open ? "can be written by others than its owner, without the sticky bit" : "";
}

/// Checks from the root down, so that a directory that was checked can no longer be replaced when
/// the next one is. `plain`: absolute and without links.
std::string unsettled_above(const std::string& plain) {
  for (auto end = plain.find('/'); end != std::string::npos; end = plain.find('/', end + 1)) {
    const std::string directory = end == 0 ? "/" : plain.substr(0, end);
    if (const std::string why = unsettled(directory); !why.empty())
      return "'" + one_line(directory) + "' " + why;
  }
  return "";
}

/// The directory in which `path` would be made.
std::string directory_above(const std::string& path) {
  const std::string above = path.substr(0, path.find_last_not_of('/') + 1);
  const auto slash = above.rfind('/');
  return slash == std::string::npos ? "." : above.substr(0, slash + 1);
}

bool same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

}  // namespace

bool SetDirectory::others_may_write(const struct stat& facts) {
  return may_be_written(facts) || !is_ours(facts);
}

tl::unexpected<Error> SetDirectory::exchangeable(const std::string& why) const {
  return failed(Errc::kAuth, "",
                "another user could put another directory in its place: " + why +
                    "; give one below directories that are yours or root's alone");
}

/// Others must not be able to write to it: a set says which devices are plugged in.
Status SetDirectory::open() {
  if (directory_) return {};
  Fd opened(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) {
    const bool none = errno == ENOENT;
    const Errc code = none ? Errc::kNotFound : errno == EACCES ? Errc::kAuth : Errc::kInvalid;
    return failed(code, "", std::strerror(errno));
  }
  struct stat facts {};
  if (::fstat(opened.number(), &facts) != 0) return failed(Errc::kSystem, "", std::strerror(errno));
  if (others_may_write(facts))
    return failed(Errc::kAuth, "",
                  "others may write to it; a set belongs in a directory of yours (0700)");
  std::error_code broken;
  std::string plain = std::filesystem::canonical(path_, broken).string();
  if (broken) return failed(Errc::kSystem, "", broken.message());
  if (const std::string why = unsettled_above(plain); !why.empty()) return exchangeable(why);
  struct stat there {};
  if (::lstat(plain.c_str(), &there) != 0 || !same_file(facts, there))
    return exchangeable("it was another one a moment ago");
  place_ = std::move(plain);
  directory_ = std::move(opened);
  return {};
}

/// Called before the directory is made. If its parent is missing, making it will say so.
Status SetDirectory::check_above() const {
  std::error_code broken;
  const auto above = std::filesystem::canonical(directory_above(path_), broken);
  const std::string why = broken ? "" : unsettled_above((above / "").string());
  return why.empty() ? Status() : exchangeable(why);
}

/// Whether the directory can be made, as far as can be told.
Status SetDirectory::look_above() const {
  if (::faccessat(AT_FDCWD, directory_above(path_).c_str(), W_OK | X_OK, AT_EACCESS) == 0)
    return check_above();
  return not_made();
}

/// Says why, from errno.
Status SetDirectory::not_made() const {
  if (errno == ENOENT || errno == ENOTDIR)
    return failed(Errc::kNotFound, "",
                  "cannot be made because its parent directory is not there; "
                  "make that first");
  const bool denied = errno == EACCES || errno == EPERM || errno == EROFS;
  return failed(denied ? Errc::kAuth : Errc::kSystem, "",
                std::string("cannot be made: ") + std::strerror(errno));
}

}  // namespace livebtl::hypervisor
