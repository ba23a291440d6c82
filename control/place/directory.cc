// SPDX-License-Identifier: BSD-3-Clause
// control/place/directory.cc -- see directory.h.
#include "control/place/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/fd.h"

namespace livebtl::control {

Result<std::vector<std::string>> read_directory(const std::string& path, std::size_t most) {
  std::vector<std::string> names;
  struct Close {
    void operator()(DIR* directory) const noexcept { ::closedir(directory); }
  };
  const std::unique_ptr<DIR, Close> directory(::opendir(path.c_str()));
  if (!directory) {
    const Errc code = errno == ENOENT                      ? Errc::kNotFound
                      : errno == EMFILE || errno == ENFILE ? Errc::kNoMemory
                                                           : Errc::kSystem;
    return fail(code, "cannot look into " + path + ": " + std::strerror(errno));
  }
  while (names.size() < most) {
    const dirent* const entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> list_directory(const std::string& path, std::size_t most) {
  return read_directory(path, most).value_or(std::vector<std::string>());
}

Result<std::string> read_descriptor(int fd, std::size_t bytes_max) {
  std::string text;
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t count = ::read(fd, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(Errc::kSystem, std::string("cannot read: ") + std::strerror(errno));
    if (count == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
    if (text.size() > bytes_max) {
      return fail(Errc::kLimit, "longer than " + std::to_string(bytes_max) + " bytes");
    }
  }
}

Status write_descriptor(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(Errc::kSystem, std::string("cannot write: ") + std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

namespace {

/// The file may rightly have that owner and mode, so the advice is to use another file first.
const char* advice(const FileRule& rule) noexcept {
  return rule.secret ? "; for a new job: (umask 077; head -c 32 /dev/urandom > FILE); for one that "
                       "runs: btlctl secret FILE on one of its nodes, or chmod 600 if nobody else "
                       "has read it"
                     : "";
}

}  // namespace

Result<std::string> read_small_file(const std::string& path, const FileRule& rule) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd && errno == ENOENT) return fail(Errc::kNotFound, path + " does not exist");
  if (!fd) return fail(Errc::kSystem, "cannot open " + path + ": " + std::strerror(errno));
  struct stat facts {};
  if (::fstat(fd.number(), &facts) != 0) {
    return fail(Errc::kSystem, "cannot look at " + path + ": " + std::strerror(errno));
  }
  if (!S_ISREG(facts.st_mode)) return fail(Errc::kAuth, path + " is not an ordinary file");
  if (facts.st_uid != rule.owner) {
    return fail(Errc::kAuth, path + " belongs to user " + std::to_string(facts.st_uid) +
                                 ", not to " + std::to_string(rule.owner) + advice(rule));
  }
  if (rule.secret && (facts.st_mode & 077) != 0) {
    return fail(Errc::kAuth,
                path + " can be read by other users, and so holds no secret" + advice(rule));
  }
  auto text = read_descriptor(fd.number(), rule.bytes_max);
  if (!text) return fail(text.error().code, path + ": " + text.error().text);
  return text;
}

}  // namespace livebtl::control
