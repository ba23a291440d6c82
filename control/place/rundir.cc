// SPDX-License-Identifier: BSD-3-Clause
// control/place/rundir.cc -- see rundir.h.
#include "control/place/rundir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/process_files.h"
#include "base/text.h"
#include "control/place/directory.h"
#include "control/place/member_file.h"

namespace livebtl::control {
namespace {

constexpr off_t kSecretFileBytes = 32;  // job_secret.cc

void add_if_private(std::vector<RunDirectory>& found, const std::string& path, uid_t owner) {
  if (!open_private_directory(path, owner)) return;
  for (const RunDirectory& known : found) {
    if (known.path == path) return;
  }
  found.push_back({path, owner});
}

/// Those of every user: /run/livebtl/UID, /run/user/UID/livebtl, /tmp/livebtl-UID and its like.
void add_all_users(std::vector<RunDirectory>& found) {
  struct Place {
    std::string parent, prefix, suffix;
  };
  const Place places[] = {
      {RunPlaces{}.system, "", ""}, {"/run/user", "", "/livebtl"}, {"/tmp", "livebtl-", ""}};
  for (const Place& place : places) {
    for (const std::string& name : list_directory(place.parent)) {
      if (!name.starts_with(place.prefix)) continue;
      const std::string_view number = std::string_view(name).substr(place.prefix.size());
      const auto user = parse_number<uid_t>(number.substr(0, number.find('.')));
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

/// Where run directories of this user may be.
std::vector<std::string> own_places(const std::string& wanted, const Lookup& lookup) {
  if (!wanted.empty()) return {wanted};
  const std::string user = std::to_string(::geteuid());
  std::vector<std::string> places{RunPlaces{}.system + "/" + user};
  if (const auto session = lookup("XDG_RUNTIME_DIR")) places.push_back(*session + "/livebtl");
  places.push_back("/run/user/" + user + "/livebtl");
  for (std::string& place : temporary_places(RunPlaces{}.temporary, ::geteuid())) {
    if (!taken_by_another(place, ::geteuid())) places.push_back(std::move(place));
  }
  return places;
}

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

/// fd: an open description of the directory whose lock may become exclusive. Only what processes of
/// a job leave there is removed: a run directory may be a place where a user keeps other things.
void remove_if_unheld(const std::string& path, int fd) {
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) return;
  for (const std::string& name : list_directory(path)) {
    if (names_process(name) || is_secret(fd, name)) ::unlinkat(fd, name.c_str(), 0);
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
    auto made = make_private_directory(path);
    if (!made && made.error().code == Errc::kNotFound) continue;
    if (!made) return tl::unexpected(made.error());
    auto opened = open_private_directory(path, ::geteuid());
    if (!opened && opened.error().code == Errc::kNotFound) continue;
    if (!opened) return tl::unexpected(opened.error());
    if (::flock(opened->number(), LOCK_SH) != 0) {
      return fail(Errc::kSystem, "cannot lock " + path + ": " + std::strerror(errno));
    }
    if (same_file(opened->number(), path)) {
      return JobDirectory{path, std::make_shared<const Fd>(std::move(*opened))};
    }
  }
  return fail(Errc::kSystem, path +
                                 " is removed again and again; find out by which process, or "
                                 "set LIVEBTL_RUNDIR to another directory");
}

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
