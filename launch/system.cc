// SPDX-License-Identifier: BSD-3-Clause
// launch/system.cc -- see system.h.
#include "launch/system.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/clock.h"
#include "base/fd.h"

namespace livebtl::launch {
namespace {

constexpr std::size_t kFileBytesMax = 1u << 20;  // of a process's maps, say
constexpr std::size_t kOutputBytesMax = 256u << 10;
constexpr std::size_t kNamesMax = 4096;
constexpr TimeNs kRunTimeMax = 20'000 * kMillisecond;

/// Appends what can be read to `text`, up to `most` bytes in all; drops the rest. false: the end,
/// or an error.
bool read_more(int fd, std::string& text, std::size_t most) {
  std::array<char, 4096> part{};
  const ssize_t count = ::read(fd, part.data(), part.size());
  if (count < 0) return errno == EINTR;
  const auto room = most - std::min(most, text.size());
  text.append(part.data(), std::min(room, static_cast<std::size_t>(count)));
  return count > 0;
}

std::vector<std::string> environment_with(const Variables& more) {
  std::vector<std::string> entries;
  for (const auto& [name, value] : more) entries.push_back(name + "=" + value);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    const bool replaced = std::any_of(more.begin(), more.end(),
                                      [&name](const auto& each) { return each.first == name; });
    if (!replaced) entries.emplace_back(text);
  }
  return entries;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Starts a child whose output goes to `output`; -1: it failed.
pid_t start(const std::vector<std::string>& words, const Variables& more, int output) {
  std::vector<std::string> arguments = words, environment = environment_with(more);
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0) return -1;
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  pid_t child = -1;
  if (::posix_spawn(&child, words.front().c_str(), &actions, nullptr, pointers_to(arguments).data(),
                    pointers_to(environment).data()) != 0)
    child = -1;
  ::posix_spawn_file_actions_destroy(&actions);
  return child;
}

/// Reads until the other end closes; false: that took too long.
bool read_all(int fd, std::string& text) {
  const TimeNs deadline = monotonic_now() + kRunTimeMax;
  for (;;) {
    const TimeNs left = deadline - monotonic_now();
    if (left <= 0) return false;
    pollfd wanted{fd, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(left / kMillisecond) + 1);
    if (ready < 0 && errno != EINTR) return false;
    if (ready > 0 && !read_more(fd, text, kOutputBytesMax)) return true;
  }
}

}  // namespace

std::optional<std::string> RealSystem::variable(std::string_view name) const {
  const char* const value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::vector<std::string> RealSystem::variable_names() const {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    names.emplace_back(text.substr(0, text.find('=')));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> RealSystem::file_text(const std::string& path) const {
  // No file read here is a pipe; a pipe in the place of one must not be waited for.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return std::nullopt;
  std::string text;
  while (text.size() < kFileBytesMax && read_more(fd.number(), text, kFileBytesMax)) {
  }
  return text;
}

std::vector<std::string> RealSystem::names_in(const std::string& directory) const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end;
       !error && entry != end && names.size() < kNamesMax; entry.increment(error))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<FileFacts> RealSystem::facts(const std::string& path) const {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  FileFacts facts;
  if (S_ISREG(found.st_mode)) facts.kind = FileFacts::Kind::kFile;
  if (S_ISDIR(found.st_mode)) facts.kind = FileFacts::Kind::kDirectory;
  if (S_ISSOCK(found.st_mode)) facts.kind = FileFacts::Kind::kSocket;
  facts.owner = found.st_uid;
  facts.mode = found.st_mode & 07777;
  facts.bytes = static_cast<std::uint64_t>(found.st_size);
  return facts;
}

std::optional<std::string> RealSystem::resolved(const std::string& path) const {
  std::error_code error;
  auto whole = std::filesystem::canonical(path, error);
  return error ? std::nullopt : std::optional(whole.string());
}

bool RealSystem::may_read_and_write(const std::string& path) const {
  return ::access(path.c_str(), R_OK | W_OK) == 0;
}

bool RealSystem::may_execute(const std::string& path) const {
  return ::access(path.c_str(), X_OK) == 0;
}

Ran RealSystem::run(const std::vector<std::string>& words, const Variables& more) const {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const Fd reads(ends[0]);
  Fd writes(ends[1]);
  const pid_t child = start(words, more, writes.number());
  writes.reset();
  if (child < 0) return {};
  Ran ran;
  if (!read_all(reads.number(), ran.output)) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) ran.exit_code = WEXITSTATUS(status);
  return ran;
}

std::optional<std::string> program_of(const System& system, const std::string& word) {
  const auto runs = [&system](const std::string& path) {
    const auto facts = system.facts(path);
    return facts && facts->kind == FileFacts::Kind::kFile && system.may_execute(path);
  };
  if (word.find('/') != std::string::npos) return runs(word) ? std::optional(word) : std::nullopt;
  const std::string path = system.variable("PATH").value_or("/usr/bin:/bin");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = end == begin ? "." : path.substr(begin, end - begin);
    if (runs(folder + "/" + word)) return folder + "/" + word;
    begin = end + 1;
  }
  return std::nullopt;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace livebtl::launch
