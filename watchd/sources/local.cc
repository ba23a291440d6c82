// SPDX-License-Identifier: BSD-3-Clause
// watchd/sources/local.cc -- see local.h.
#include "watchd/sources/local.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "base/json.h"
#include "base/log.h"
#include "hypervisor/vm/program.h"
#include "watchd/texts/notice_texts.h"

namespace livebtl::watchd {
namespace {

constexpr TimeNs kSlurmTimeout = 20 * kSecond;
constexpr TimeNs kSlurmGrace = 2 * kSecond;
constexpr std::size_t kStatesMax = 256;

tl::unexpected<Error> file_error(const std::string& path) {
  return fail(Errc::kSystem, path + " cannot be read: " + std::strerror(errno));
}

/// The file decides whether a job has its devices: whoever may write it gives orders.
Status check_owner(const struct stat& facts, const std::string& path) {
  const bool ours = facts.st_uid == 0 || facts.st_uid == ::geteuid();
  if (S_ISREG(facts.st_mode) && ours && (facts.st_mode & S_IWOTH) == 0) return {};
  return fail(
      Errc::kAuth,
      path + " must be a plain file of root or of livebtl-watchd's user, and not writable by all");
}

Result<std::string> read_bounded(const Fd& file, const std::string& path) {
  std::string text(kAnswerBytesMax + 1, '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t count = ::read(file.number(), text.data() + length, text.size() - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_error(path);
    if (count == 0) break;
    length += static_cast<std::size_t>(count);
  }
  if (length > kAnswerBytesMax) return fail(Errc::kLimit, path + " is too long");
  text.resize(length);
  return text;
}

bool replace_file(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  const Fd file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  return file &&
         ::write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
         ::rename(fresh.c_str(), path.c_str()) == 0;
}

}  // namespace

SlurmSource::SlurmSource(const Settings& settings, std::string node)
    : command_(settings.slurm_command),
      node_(std::move(node)),
      interval_(settings.poll == 0 ? 30 * kSecond : settings.poll) {}

Result<Report> SlurmSource::look() {
  std::vector<std::string> words = command_;
  words.push_back(node_);
  const auto finished =
      hypervisor::run_program(words, {monotonic_now() + kSlurmTimeout, &stop_}, kSlurmGrace);
  if (!finished) return tl::unexpected(finished.error());
  if (finished->code != 0)
    return fail(Errc::kSystem, command_.front() + " ended with code " +
                                   std::to_string(finished->code) + ": " +
                                   plain_text(finished->errors));
  auto notices = read_slurm(finished->output, node_);
  if (!notices) return tl::unexpected(notices.error());
  return Report{.source = name(), .notices = std::move(*notices)};
}

FileSource::FileSource(const Settings& settings)
    : path_(settings.file), interval_(settings.poll == 0 ? kSecond : settings.poll) {}

Result<Report> FileSource::look() {
  const Fd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file && errno == ENOENT) return Report{.source = name()};
  struct stat facts {};
  if (!file || ::fstat(file.number(), &facts) != 0) return file_error(path_);
  if (auto good = check_owner(facts, path_); !good) return tl::unexpected(good.error());
  const auto text = read_bounded(file, path_);
  if (!text) return tl::unexpected(text.error());
  auto notices = read_notice_file(*text);
  if (!notices) return fail(notices.error().code, path_ + ": " + notices.error().text);
  return Report{.source = name(), .notices = std::move(*notices)};
}

void FileSource::note(const Entry& entry) {
  if (states_.size() >= kStatesMax && !states_.contains(entry.notice.id))
    states_.erase(states_.begin());
  states_[entry.notice.id] = entry;
  Json events = Json::array();
  for (const auto& [id, last] : states_)
    events.push_back(
        {{"event", id}, {"state", state_name(last.state)}, {"text", plain_text(last.text)}});
  const std::string path = path_ + ".state";
  if (!replace_file(path, Json{{"events", events}}.dump() + "\n"))
    log(LogLevel::kWarn, "file", "%s cannot be written: %s", path.c_str(), std::strerror(errno));
}

}  // namespace livebtl::watchd
