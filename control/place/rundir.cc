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
#include "base/secret.h"
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

/// Those of every user: /run/livebtl/UID, /run/user/UID/livebtl, /tmp/livebtl-UID and the like.
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

/// Where that user's run directories may be. Our environment says nothing of another user's
/// sessions.
std::vector<std::string> places_of(uid_t user, const std::string& wanted, const Lookup& lookup) {
  if (!wanted.empty()) return {wanted};
  const std::string number = std::to_string(user);
  std::vector<std::string> places{RunPlaces{}.system + "/" + number};
  const auto session = user == ::geteuid() ? lookup("XDG_RUNTIME_DIR") : std::nullopt;
  if (session) places.push_back(*session + "/livebtl");
  places.push_back("/run/user/" + number + "/livebtl");
  for (std::string& place : temporary_places(RunPlaces{}.temporary, user)) {
    if (!taken_by_another(place, user)) places.push_back(std::move(place));
  }
  return places;
}

bool names_process(std::string_view name) {
  return std::any_of(
      std::begin(kProcessFiles), std::end(kProcessFiles),
      [&](std::string_view suffix) { return parse_process_name(name, suffix).has_value(); });
}

/// A run's secret, also under its temporary name, under which it may be unfinished.
bool is_secret(int directory, const std::string& name) {
  struct stat facts {};
  return is_secret_name(name) &&
         ::fstatat(directory, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(facts.st_mode) && facts.st_size <= kSecretFileBytes;
}

/// fd: of the directory. Removes only what processes of a job leave there: a run directory may be a
/// place where a user keeps other things.
void remove_leftovers(const std::string& path, int fd) {
  for (const std::string& name : list_directory(path)) {
    if (names_process(name) || is_secret(fd, name)) ::unlinkat(fd, name.c_str(), 0);
  }
}

/// fd: an open description of the directory whose lock may become exclusive.
bool remove_if_unheld(const std::string& path, int fd) {
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) return false;
  remove_leftovers(path, fd);
  if (current_run(path, ::geteuid()) != kNoRun)
    ::unlinkat(fd, std::string(kRunRegister).c_str(), 0);
  ::rmdir(path.c_str());
  return true;
}

/// A clone of a process keeps its open files, even its hold on the directory.
void remove_if_run_is_over(const std::string& path, int fd) {
  auto opened = RunRegister::open(path, false);
  if (opened && opened->in_place() && !opened->anybody_lives()) remove_leftovers(path, fd);
}

/// Has a process of a job ever been there?
bool was_used(const std::string& path, int fd) {
  const std::vector<std::string> names = list_directory(path);
  return std::any_of(
             names.begin(), names.end(),
             [&](const std::string& name) { return names_process(name) || is_secret(fd, name); }) ||
         current_run(path, ::geteuid()) != kNoRun;
}

RunId new_run() {
  std::uint64_t number = 0;
  while (number == 0) number = random_u64();
  return RunId{number};
}

/// Closing a descriptor unlocks nothing if a child that was forked meanwhile has a copy of it: the
/// child itself would wait for that lock forever.
class UnlockAtEnd {
 public:
  explicit UnlockAtEnd(const Fd& fd) : fd_(fd) {}
  ~UnlockAtEnd() {
    if (fd_) ::flock(fd_.number(), LOCK_UN);  // else it has been handed on
  }
  UnlockAtEnd(const UnlockAtEnd&) = delete;
  UnlockAtEnd& operator=(const UnlockAtEnd&) = delete;

 private:
  const Fd& fd_;
};

/// The hold ends with this process's part in the run. A child's copy of it ends nothing.
std::shared_ptr<const Fd> hold_of(const std::string& path, Fd fd) {
  return {new Fd(std::move(fd)), [path, owner = ::getpid()](const Fd* held) {
            leave_run(path);
            if (owner == ::getpid()) ::flock(held->number(), LOCK_UN);
            delete held;
          }};
}

/// One try; nullopt: somebody removed the directory just then. Everybody enters with the register
/// locked, and holds the directory before unlocking it: so nobody gets between the look and the
/// entry.
Result<std::optional<JobDirectory>> try_to_enter(const std::string& path) {
  const std::optional<JobDirectory> again;
  auto opened = open_private_directory(path, ::geteuid());
  if (!opened && opened.error().code == Errc::kNotFound) return again;
  if (!opened) return tl::unexpected(opened.error());
  const UnlockAtEnd unlock(*opened);
  auto run = RunRegister::open(path, true);
  if (!run && run.error().code == Errc::kNotFound) return again;
  if (!run) return tl::unexpected(run.error());
  if (!run->in_place()) return again;
  const bool alone = ::flock(opened->number(), LOCK_EX | LOCK_NB) == 0;
  const bool begins = alone || run->run() == kNoRun || !run->anybody_lives();
  Status done;
  if (begins) {
    remove_leftovers(path, opened->number());
    done = run->begin(new_run());
  }
  if (done) done = run->enter(own_mark());
  if (!done) return tl::unexpected(done.error());
  if (::flock(opened->number(), LOCK_SH) != 0)
    return fail(Errc::kSystem, "cannot lock " + path + ": " + std::strerror(errno));
  if (!same_file(opened->number(), path) || !run->in_place()) return again;
  const RunId number = run->run();
  return JobDirectory{path, hold_of(path, std::move(*opened)), number, begins};
}

}  // namespace

std::vector<RunDirectory> run_directories(const std::string& wanted, const Lookup& lookup,
                                          std::optional<uid_t> user) {
  std::vector<RunDirectory> found;
  const uid_t owner = user.value_or(::geteuid());
  for (const std::string& place : places_of(owner, wanted, lookup))
    add_if_private(found, place, owner);
  if (!user && owner == 0 && wanted.empty()) add_all_users(found);
  return found;
}

std::optional<Error> unusable_run_directory(const std::string& wanted, const Lookup& lookup,
                                            uid_t user) {
  for (const std::string& place : places_of(user, wanted, lookup)) {
    const auto opened = open_private_directory(place, user);
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
    auto entered = try_to_enter(path);
    if (!entered) return tl::unexpected(entered.error());
    if (*entered) return std::move(**entered);
  }
  return fail(Errc::kSystem, path +
                                 " is removed again and again; find out by which process, or "
                                 "set LIVEBTL_RUNDIR to another directory");
}

void remove_if_abandoned(const std::string& job_directory) noexcept try {
  const auto opened = open_private_directory(job_directory, ::geteuid());
  if (!opened || !was_used(job_directory, opened->number())) return;
  const UnlockAtEnd unlock(*opened);
  if (!remove_if_unheld(job_directory, opened->number()))
    remove_if_run_is_over(job_directory, opened->number());
} catch (const std::bad_alloc&) {
  return;  // it is tidied by the next one who looks
}

void tidy_run_directory(const std::string& rundir) noexcept try {
  for (const std::string& name : list_directory(rundir)) {
    if (valid_job_id(name)) remove_if_abandoned(rundir + "/" + name);
  }
} catch (const std::bad_alloc&) {
  return;
}

void leave_job_directory(const std::string& job_directory, std::shared_ptr<const Fd> hold) noexcept
    try {
  if (hold) remove_if_unheld(job_directory, hold->number());
  hold.reset();
} catch (const std::bad_alloc&) {
  return;  // it is tidied by the next one who looks
}

}  // namespace livebtl::control
