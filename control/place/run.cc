// SPDX-License-Identifier: BSD-3-Clause
// control/place/run.cc -- see run.h. The register is a header and records of one width, each
// written by a single call: a process killed meanwhile leaves no half of one. A free record is
// blank.
#include "control/place/run.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>

#include "base/clock.h"
#include "base/hex.h"
#include "control/place/fork_watch.h"
#include "control/place/member_file.h"

namespace livebtl::control {
namespace {

constexpr std::string_view kHeader = "livebtl.run/1 ";
constexpr std::size_t kWidth = 64;  // of header and records, with the line end
constexpr std::size_t kRecordsMax = 16'384;
constexpr TimeNs kLockWithin = 10 * kSecond;  // it is held for less than a millisecond
constexpr int kDigits = 16;

std::string padded(std::string text) {
  text.resize(kWidth - 1, ' ');
  return text + "\n";
}

std::string format_record(const ProcessMark& mark) {
  return padded(hex_digits(static_cast<std::uint64_t>(mark.pid), kDigits) + " " +
                hex_digits(mark.space, kDigits));
}

/// nullopt: it is free, or rubbish.
std::optional<ProcessMark> parse_record(std::string_view text) {
  const auto pid = parse_hex(text.substr(0, kDigits));
  const auto space = parse_hex(text.substr(kDigits + 1, kDigits));
  if (!pid || !space || *pid == 0 || *pid > INT32_MAX) return std::nullopt;
  return ProcessMark{static_cast<pid_t>(*pid), *space};
}

RunId run_in(std::string_view text) {
  if (text.size() < kWidth || !text.starts_with(kHeader)) return kNoRun;
  return RunId{parse_hex(text.substr(kHeader.size(), kDigits)).value_or(0)};
}

/// A pipe or a device in its place is refused, and blocks nobody.
Result<Fd> open_register(const std::string& path, uid_t owner, int flags) {
  Fd fd(::open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!fd && errno == ENOENT) return fail(Errc::kNotFound, path + " does not exist");
  if (!fd) return fail(Errc::kSystem, "cannot open " + path + ": " + std::strerror(errno));
  struct stat facts {};
  if (::fstat(fd.number(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_uid != owner) {
    return fail(Errc::kAuth, path + " is no plain file of user " + std::to_string(owner) +
                                 "; remove it, or set LIVEBTL_RUNDIR to another directory");
  }
  return fd;
}

std::string read_records(int fd, std::size_t bytes_max) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0 || facts.st_size <= 0) return "";
  std::string text(std::min(static_cast<std::size_t>(facts.st_size), bytes_max), '\0');
  const ssize_t count = ::pread(fd, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

Status write_at(int fd, std::size_t offset, const std::string& text, const std::string& path) {
  const ssize_t count = ::pwrite(fd, text.data(), text.size(), static_cast<off_t>(offset));
  if (count == static_cast<ssize_t>(text.size())) return {};
  return fail(Errc::kSystem, "cannot write " + path + ": " + std::strerror(errno) +
                                 "; make room there, or set LIVEBTL_RUNDIR");
}

/// Calls visit(offset, record) for each until it returns true; false: it never did.
template <class Visit>
bool any_record(std::string_view text, Visit visit) {
  for (std::size_t at = kWidth; at + kWidth <= text.size(); at += kWidth) {
    if (visit(at, parse_record(text.substr(at, kWidth)))) return true;
  }
  return false;
}

bool lock_within(int fd, TimeNs limit) {
  const TimeNs deadline = monotonic_now() + limit;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR && errno != EWOULDBLOCK) return false;
    if (monotonic_now() >= deadline) return false;
    const timespec pause{0, kMillisecond};
    ::nanosleep(&pause, nullptr);
  }
  return true;
}

}  // namespace

Result<RunRegister> RunRegister::open(const std::string& directory, bool create) {
  std::string path = directory + "/" + std::string(kRunRegister);
  auto fd = open_register(path, ::geteuid(), create ? O_RDWR | O_CREAT : O_RDWR);
  if (!fd) return tl::unexpected(fd.error());
  if (!lock_within(fd->number(), kLockWithin)) {
    return fail(Errc::kTimeout,
                path + " is locked by another process all the time; is one of the job stopped?");
  }
  return RunRegister(std::move(path), std::move(*fd));
}

RunRegister::~RunRegister() {
  if (fd_) ::flock(fd_.number(), LOCK_UN);
}

bool RunRegister::in_place() const {
  struct stat opened {
  }, named{};
  return ::fstat(fd_.number(), &opened) == 0 && ::lstat(path_.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

std::string RunRegister::read() const {
  return read_records(fd_.number(), kWidth * (kRecordsMax + 1));
}

RunId RunRegister::run() const { return run_in(read_records(fd_.number(), kWidth)); }

bool RunRegister::anybody_lives() const {
  return any_record(read(), [](std::size_t, const std::optional<ProcessMark>& mark) {
    return mark && !has_ended(*mark);
  });
}

Status RunRegister::begin(RunId run) {
  if (::ftruncate(fd_.number(), 0) != 0)
    return fail(Errc::kSystem, "cannot empty " + path_ + ": " + std::strerror(errno));
  const std::string number = hex_digits(static_cast<std::uint64_t>(run), kDigits);
  return write_at(fd_.number(), 0, padded(std::string(kHeader) + number), path_);
}

Status RunRegister::enter(const ProcessMark& mark) {
  const std::string text = read();
  const bool full = text.size() >= kWidth * (kRecordsMax + 1);
  std::size_t place = text.size() - text.size() % kWidth;
  const bool reused =
      any_record(text, [&](std::size_t at, const std::optional<ProcessMark>& there) {
        if (there && !(full && has_ended(*there))) return false;
        place = at;
        return true;
      });
  if (full && !reused)
    return fail(Errc::kLimit, path_ + " is full; end processes of this job, or remove the file");
  return write_at(fd_.number(), place, format_record(mark), path_);
}

void RunRegister::leave(const ProcessMark& mark) {
  any_record(read(), [&](std::size_t at, const std::optional<ProcessMark>& there) {
    if (there != mark) return false;
    static_cast<void>(write_at(fd_.number(), at, padded(""), path_));
    return true;
  });
}

RunId current_run(const std::string& directory, uid_t owner) {
  const auto fd = open_register(directory + "/" + std::string(kRunRegister), owner, O_RDONLY);
  return fd ? run_in(read_records(fd->number(), kWidth)) : kNoRun;
}

void leave_run(const std::string& directory) noexcept try {
  if (in_forked_child()) return;
  auto opened = RunRegister::open(directory, false);
  if (opened) opened->leave(own_mark());
} catch (const std::bad_alloc&) {
  return;  // the run seems to be on while this process lives
}

namespace {

constexpr std::string_view kSecretPrefix = "secret-";

}  // namespace

std::string secret_path(const std::string& directory, RunId run) {
  return directory + "/" + std::string(kSecretPrefix) +
         hex_digits(static_cast<std::uint64_t>(run), kDigits);
}

bool is_secret_name(std::string_view name) {
  if (!name.starts_with(kSecretPrefix)) return false;
  name.remove_prefix(kSecretPrefix.size());
  const std::string_view rest = name.substr(std::min<std::size_t>(name.size(), kDigits));
  const bool being_written =
      rest.starts_with(".") && rest.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return parse_process_name(name.substr(0, kDigits), "") && (rest.empty() || being_written);
}

}  // namespace livebtl::control
