// SPDX-License-Identifier: BSD-3-Clause
// control/place/rundir.cc -- see rundir.h.
#include "control/place/rundir.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <functional>
#include <optional>

#include "base/process_files.h"
#include "control/place/directory.h"
#include "control/place/member_file.h"

namespace livebtl::control {
namespace {

constexpr mode_t kPrivate = 0700;
constexpr off_t kSecretFileBytes = 32;  // job_secret.cc
constexpr std::string_view kSystemRuns = "/run/livebtl";

std::string system_words(const std::string& what) { return what + ": " + std::strerror(errno); }

Status make_directory(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  return fail(Errc::kSystem, system_words("cannot make " + path) +
                                 "; set LIVEBTL_RUNDIR to a directory that can be made");
}

Status make_private(const std::string& path) {
  auto made = make_directory(path, kPrivate);
  if (!made) return made;
  const auto opened = open_private_directory(path, ::geteuid());
  if (!opened) return tl::unexpected(opened.error());
  return {};
}

std::string user_number() { return std::to_string(::geteuid()); }

bool exists(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0;
}

/// /run/livebtl/UID: there already (tmpfiles.d, a daemon), or we are root and make it.
std::optional<std::string> system_run_directory() {
  const std::string path = std::string(kSystemRuns) + "/" + user_number();
  if (exists(path)) return path;
  if (::geteuid() != 0) return std::nullopt;
  if (!make_directory(std::string(kSystemRuns), 0755)) return std::nullopt;
  return make_directory(path, kPrivate) ? std::optional(path) : std::nullopt;
}

std::optional<uid_t> as_user(std::string_view text) {
  uid_t user = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), user);
  if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
  return user;
}

void add_if_private(std::vector<RunDirectory>& found, const std::string& path, uid_t owner) {
  if (!open_private_directory(path, owner)) return;
  for (const RunDirectory& known : found) {
    if (known.path == path) return;
  }
  found.push_back({path, owner});
}

/// Those of every user: /run/livebtl/UID, /run/user/UID/livebtl, /tmp/livebtl-UID.
void add_all_users(std::vector<RunDirectory>& found) {
  struct Place {
    std::string parent, prefix, suffix;
  };
  const Place places[] = {
      {std::string(kSystemRuns), "", ""}, {"/run/user", "", "/livebtl"}, {"/tmp", "livebtl-", ""}};
  for (const Place& place : places) {
    for (const std::string& name : list_directory(place.parent)) {
      if (!name.starts_with(place.prefix)) continue;
      const auto user = as_user(std::string_view(name).substr(place.prefix.size()));
      if (user) add_if_private(found, place.parent + "/" + name + place.suffix, *user);
    }
  }
}

bool same_file(int fd, const std::string& path) {
  struct stat opened {
  }, named{};
  return ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

Result<Fd> open_private_directory(const std::string& path, uid_t owner) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) {
    if (errno == ENOENT) return fail(Errc::kNotFound, path + " does not exist");
    if (errno == ELOOP || errno == ENOTDIR) {
      return fail(Errc::kAuth, path + " is not a directory; set LIVEBTL_RUNDIR to one of your own");
    }
    const Errc code = errno == EACCES || errno == EPERM ? Errc::kAuth : Errc::kSystem;
    return fail(code, system_words("cannot open " + path));
  }
  struct stat facts {};
  if (::fstat(fd.number(), &facts) != 0) return fail(Errc::kSystem, system_words(path));
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

Result<std::string> make_run_directory(const std::string& wanted, const Lookup& lookup) {
  std::string path = wanted;
  if (path.empty()) {
    if (auto system = system_run_directory()) {
      path = *system;
    } else if (auto session = lookup("XDG_RUNTIME_DIR"); session && exists(*session)) {
      path = *session + "/livebtl";
    } else {
      path = "/tmp/livebtl-" + user_number();
    }
  } else if (path.front() != '/') {
    return fail(Errc::kInvalid, "LIVEBTL_RUNDIR=" + path + " must be an absolute path");
  }
  auto made = make_private(path);
  if (!made) return tl::unexpected(made.error());
  return path;
}

namespace {

/// Where run directories of this user may be.
std::vector<std::string> own_places(const std::string& wanted, const Lookup& lookup) {
  if (!wanted.empty()) return {wanted};
  std::vector<std::string> places{std::string(kSystemRuns) + "/" + user_number()};
  if (const auto session = lookup("XDG_RUNTIME_DIR")) places.push_back(*session + "/livebtl");
  places.push_back("/run/user/" + user_number() + "/livebtl");
  places.push_back("/tmp/livebtl-" + user_number());
  return places;
}

}  // namespace

std::vector<RunDirectory> run_directories(const std::string& wanted, const Lookup& lookup) {
  std::vector<RunDirectory> found;
  const uid_t me = ::geteuid();
  for (const std::string& place : own_places(wanted, lookup)) add_if_private(found, place, me);
  if (me == 0 && wanted.empty()) add_all_users(found);
  return found;
}

std::optional<Error> unusable_run_directory(const std::string& wanted, const Lookup& lookup) {
  for (const std::string& place : own_places(wanted, lookup)) {
    const auto opened = open_private_directory(place, ::geteuid());
    if (!opened && opened.error().code != Errc::kNotFound) return opened.error();
  }
  return std::nullopt;
}

Result<JobDirectory> make_job_directory(const std::string& rundir, std::string_view job) {
  const std::string path = rundir + "/" + std::string(job);
  constexpr std::size_t kMemberNameBytes = sizeof("/0123456789abcdef.ctl");  // with the final zero
  if (path.size() + kMemberNameBytes > sizeof(sockaddr_un{}.sun_path)) {
    return fail(Errc::kLimit, "the path " + path +
                                  " is too long for sockets; set LIVEBTL_RUNDIR to a shorter one, "
                                  "such as /tmp/l");
  }
  constexpr int kTries = 100;  // each lost only to somebody who removed the directory just then
  for (int i = 0; i < kTries; ++i) {
    auto made = make_private(path);
    if (!made && made.error().code == Errc::kNotFound) continue;
    if (!made) return tl::unexpected(made.error());
    auto opened = open_private_directory(path, ::geteuid());
    if (!opened && opened.error().code == Errc::kNotFound) continue;
    if (!opened) return tl::unexpected(opened.error());
    if (::flock(opened->number(), LOCK_SH) != 0) {
      return fail(Errc::kSystem, system_words("cannot lock " + path));
    }
    if (same_file(opened->number(), path)) {
      return JobDirectory{path, std::make_shared<const Fd>(std::move(*opened))};
    }
  }
  return fail(Errc::kSystem, path +
                                 " is removed again and again by somebody else; find out whom, "
                                 "or set LIVEBTL_RUNDIR to another directory");
}

namespace {

bool names_process(std::string_view name) {
  return std::any_of(
      std::begin(kProcessFiles), std::end(kProcessFiles),
      [&](std::string_view suffix) { return parse_process_name(name, suffix).has_value(); });
}

bool is_secret(int directory, const std::string& name) {
  struct stat facts {};
  return name.starts_with("secret") &&
         ::fstatat(directory, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(facts.st_mode) && facts.st_size == kSecretFileBytes;
}

bool is_relay_lock(std::string_view name) {
  constexpr std::string_view kPrefix = "relay-";
  return name.starts_with(kPrefix) && parse_process_name(name.substr(kPrefix.size()), ".lock");
}

/// fd: an open description of the directory whose lock may become exclusive. Only what processes of
/// a job leave there is removed: a run directory may be a place where a user keeps other things.
void remove_if_unheld(const std::string& path, int fd) {
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) return;
  for (const std::string& name : list_directory(path)) {
    if (names_process(name) || is_relay_lock(name) || is_secret(fd, name))
      ::unlinkat(fd, name.c_str(), 0);
  }
  ::rmdir(path.c_str());
}

/// Has a process of a job ever been there?
bool was_used(const std::string& path, int fd) {
  const std::vector<std::string> names = list_directory(path);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return names_process(name) || is_secret(fd, name);
  });
}

}  // namespace

void remove_if_abandoned(const std::string& job_directory) noexcept try {
  const auto opened = open_private_directory(job_directory, ::geteuid());
  if (opened && was_used(job_directory, opened->number()))
    remove_if_unheld(job_directory, opened->number());
} catch (const std::bad_alloc&) {
  return;  // it is tidied by the next one who looks
}

void leave_job_directory(const std::string& job_directory, std::shared_ptr<const Fd> hold) noexcept
    try {
  if (hold) remove_if_unheld(job_directory, hold->number());
  hold.reset();
} catch (const std::bad_alloc&) {
  return;  // it is tidied by the next one who looks
}

}  // namespace livebtl::control
