// SPDX-License-Identifier: BSD-3-Clause
// base/run_directory.cc -- see run_directory.h.
#include "base/run_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace livebtl {
namespace {

constexpr mode_t kPrivate = 0700;

std::string errno_text(const std::string& what) { return what + ": " + std::strerror(errno); }

Status make_directory(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  return fail(Errc::kSystem, errno_text("cannot make " + path) +
                                 "; set LIVEBTL_RUNDIR to a directory that can be made");
}

std::string user_number() { return std::to_string(::geteuid()); }

bool exists(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0;
}

/// PLACES/UID: if it exists (tmpfiles.d, a daemon), or if we are root and can make it.
std::optional<std::string> system_run_directory(const std::string& places) {
  const std::string path = places + "/" + user_number();
  if (exists(path)) return path;
  if (::geteuid() != 0) return std::nullopt;
  if (!make_directory(places, 0755)) return std::nullopt;
  return make_directory(path, kPrivate) ? std::optional(path) : std::nullopt;
}

/// Prefers a directory of ours that already exists, so that all our processes find one another even
/// if the other user frees the first name.
Result<std::string> make_temporary_place(const std::string& temporary) {
  const std::vector<std::string> places = temporary_places(temporary, ::geteuid());
  for (const std::string& place : places) {
    if (open_private_directory(place, ::geteuid())) return place;
  }
  Status made;
  for (const std::string& place : places) {
    made = make_private_directory(place);
    if (made) return place;
    if (!taken_by_another(place, ::geteuid())) break;
  }
  return tl::unexpected(made.error());
}

}  // namespace

std::vector<std::string> temporary_places(const std::string& temporary, uid_t user) {
  constexpr int kPlaces = 8;
  const std::string first = temporary + "/livebtl-" + std::to_string(user);
  std::vector<std::string> places{first};
  for (int i = 1; i < kPlaces; ++i) places.push_back(first + "." + std::to_string(i));
  return places;
}

bool taken_by_another(const std::string& path, uid_t user) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && facts.st_uid != user;
}

RunPlaces run_places() {
  const char* const session = ::secure_getenv("XDG_RUNTIME_DIR");
  return {.session = session == nullptr ? std::nullopt : std::optional<std::string>(session)};
}

Status make_private_directory(const std::string& path) {
  auto made = make_directory(path, kPrivate);
  if (!made) return made;
  const auto opened = open_private_directory(path, ::geteuid());
  if (!opened) return tl::unexpected(opened.error());
  return {};
}

Result<Fd> open_private_directory(const std::string& path, uid_t owner) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) {
    if (errno == ENOENT) return fail(Errc::kNotFound, path + " does not exist");
    if (errno == ELOOP || errno == ENOTDIR) {
      return fail(Errc::kAuth, path + " is not a directory; set LIVEBTL_RUNDIR to one of your own");
    }
    const Errc code = errno == EACCES || errno == EPERM ? Errc::kAuth : Errc::kSystem;
    return fail(code, errno_text("cannot open " + path));
  }
  struct stat facts {};
  if (::fstat(fd.number(), &facts) != 0) return fail(Errc::kSystem, errno_text(path));
  if (facts.st_uid != owner) {
    return fail(Errc::kAuth, path + " belongs to user " + std::to_string(facts.st_uid) +
                                 " and not to " + std::to_string(owner) +
                                 "; set LIVEBTL_RUNDIR to a directory of your own");
  }
  if ((facts.st_mode & 077) != 0) {
    return fail(Errc::kAuth, path +
                                 " is open to other users; set LIVEBTL_RUNDIR to a directory of "
                                 "your own with mode 0700");
  }
  return fd;
}

Result<std::string> make_run_directory(const std::string& wanted, const RunPlaces& places) {
  std::string path = wanted;
  if (path.empty()) {
    if (const auto system = system_run_directory(places.system)) {
      path = *system;
    } else if (places.session && exists(*places.session)) {
      path = *places.session + "/livebtl";
    } else {
      return make_temporary_place(places.temporary);
    }
  } else if (path.front() != '/') {
    return fail(Errc::kInvalid, "LIVEBTL_RUNDIR=" + path + " must be an absolute path");
  }
  auto made = make_private_directory(path);
  if (!made) return tl::unexpected(made.error());
  return path;
}

}  // namespace livebtl
