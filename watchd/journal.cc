// SPDX-License-Identifier: BSD-3-Clause
// watchd/journal.cc -- see journal.h.
#include "watchd/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

namespace livebtl::watchd {
namespace {

constexpr std::size_t kKeptBytesMax = std::size_t{1} << 20;  // read() shortens a longer one
constexpr std::size_t kReadBytesMax = std::size_t{64} << 20;

Error journal_error(Errc code, const std::string& path, const char* what) {
  return {code, path + " cannot be " + what + ": " + std::strerror(errno)};
}

Status write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return tl::unexpected(journal_error(Errc::kSystem, path, "written"));
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fdatasync(fd) != 0) return tl::unexpected(journal_error(Errc::kSystem, path, "written"));
  return {};
}

Result<std::string> read_all(int fd, const std::string& path) {
  std::string text;
  char part[16384];
  for (;;) {
    const ssize_t count = ::pread(fd, part, sizeof part, static_cast<off_t>(text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return tl::unexpected(journal_error(Errc::kSystem, path, "read"));
    if (count == 0) return text;
    text.append(part, static_cast<std::size_t>(count));
    if (text.size() > kReadBytesMax)
      return fail(Errc::kLimit, path + " is longer than 64 MiB; move it away");
  }
}

/// The last line of each event that is not over.
std::string open_events(const std::vector<Entry>& entries) {
  std::map<std::pair<std::string, std::string>, const Entry*> last;
  for (const Entry& entry : entries) last[{entry.source, entry.notice.id}] = &entry;
  std::string text;
  for (const auto& [key, entry] : last)
    if (entry->state != State::kReturned) text += entry_line(*entry) + "\n";
  return text;
}

std::vector<Entry> entries_of(std::string_view text, const std::string& path,
                              std::vector<std::string>& warnings) {
  std::vector<Entry> entries;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    auto entry = read_entry(text.substr(0, end));
    text.remove_prefix(end + 1);
    if (entry) {
      entries.push_back(std::move(*entry));
    } else {
      warnings.push_back(path + ":" + std::to_string(number) + ": " + entry.error().text);
    }
  }
  return entries;
}

}  // namespace

Result<Journal> Journal::open(const std::string& path) {
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640));
  if (!file)
    return tl::unexpected(
        journal_error(errno == EACCES ? Errc::kAuth : Errc::kSystem, path, "opened"));
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0)
    return fail(Errc::kRefused,
                path + " is used by another livebtl-watchd; end that, or give JOURNAL");
  return Journal(path, std::move(file));
}

Result<std::vector<Entry>> Journal::read(std::vector<std::string>& warnings) {
  auto text = read_all(file_.number(), path_);
  if (!text) return tl::unexpected(text.error());
  const std::size_t whole =
      text->find_last_of('\n') == std::string::npos ? 0 : text->find_last_of('\n') + 1;
  if (whole != text->size()) {
    text->resize(whole);
    if (::ftruncate(file_.number(), static_cast<off_t>(whole)) != 0)
      return tl::unexpected(journal_error(Errc::kSystem, path_, "cut"));
  }
  auto entries = entries_of(*text, path_, warnings);
  if (text->size() <= kKeptBytesMax) return entries;
  std::string kept = open_events(entries);
  if (const Status shortened = shorten(kept); !shortened) return tl::unexpected(shortened.error());
  return entries;
}

/// The old file stays beside it as .1. The new one is locked before it gets the name.
Status Journal::shorten(std::string& text) {
  const std::string fresh = path_ + ".new";
  ::unlink(fresh.c_str());
  Fd file(
      ::open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640));
  if (!file || ::flock(file.number(), LOCK_EX | LOCK_NB) != 0)
    return tl::unexpected(journal_error(Errc::kSystem, fresh, "made"));
  if (auto written = write_all(file.number(), text, fresh); !written) return written;
  const std::string old = path_ + ".1";
  ::unlink(old.c_str());
  if (::link(path_.c_str(), old.c_str()) != 0 || ::rename(fresh.c_str(), path_.c_str()) != 0)
    return tl::unexpected(journal_error(Errc::kSystem, fresh, "renamed"));
  // Or a power cut brings the old file back, without what is written to the new one from now on.
  const std::string parent = std::filesystem::path(path_).parent_path().string();
  const Fd directory(
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::fsync(directory.number()) != 0)
    return tl::unexpected(journal_error(Errc::kSystem, path_, "renamed for good"));
  file_ = std::move(file);
  return {};
}

/// Cuts off a partial line, which would spoil the next one.
Status Journal::append(const Entry& entry) {
  struct stat facts {};
  const bool known = ::fstat(file_.number(), &facts) == 0;
  auto written = write_all(file_.number(), entry_line(entry) + "\n", path_);
  if (!written && known && ::ftruncate(file_.number(), facts.st_size) != 0)
    written.error().text += "; its last line is cut off";
  return written;
}

}  // namespace livebtl::watchd
