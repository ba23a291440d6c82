// SPDX-License-Identifier: BSD-3-Clause
// base/config_file.cc -- see config_file.h. The grammar is that of libinih.
#include "base/config_file.h"

#include <fcntl.h>
#include <ini.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/fd.h"
#include "base/text_file.h"

namespace livebtl {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{64} * 1024;

/// Settings of one job or one process, which no file may give.
constexpr std::string_view kOfOneJob[] = {"JOB", "SIZE", "SECRET_FD", "SEED"};

struct Parse {
  const std::string& path;
  std::vector<Assignment> found = {};
  std::string problem = {};  // the first one
};

std::string in_capitals(std::string_view name) {
  std::string capitals(name);
  for (char& c : capitals) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return capitals;
}

std::string problem_of(const Parse& parse, std::string_view section, const std::string& name) {
  if (!section.empty()) return "there are no sections; remove the line in brackets";
  if (std::ranges::find(kOfOneJob, name) != std::end(kOfOneJob))
    return name + " is for one job; give it as LIVEBTL_" + name + " in the job's environment";
  if (std::ranges::find(parse.found, name, &Assignment::name) != parse.found.end())
    return name +
           " is set twice, or its value continues on the next line; write it once, on one line";
  return {};
}

/// libinih's handler. 0: an error, whose line number ini_parse_string() returns.
int take_line(void* user, const char* section, const char* name, const char* value) {
  Parse& parse = *static_cast<Parse*>(user);
  std::string capitals = in_capitals(name);
  if (std::string problem = problem_of(parse, section, capitals); !problem.empty()) {
    if (parse.problem.empty()) parse.problem = std::move(problem);
    return 0;
  }
  parse.found.push_back({std::move(capitals), value == nullptr ? "" : value, parse.path});
  return 1;
}

/// In a container, root's files, like /, may seem to belong to a user unknown there.
bool is_of_the_system(uid_t owner) noexcept {
  struct stat root {};
  return owner == 0 || (::stat("/", &root) == 0 && owner == root.st_uid);
}

/// Strict, since the file decides what this user's processes load, and where they listen.
Status check_file(const struct stat& facts, const std::string& path) {
  if (!S_ISREG(facts.st_mode))
    return fail(Errc::kInvalid, path + " is no plain file; put one in its place, or name another");
  if (facts.st_uid != ::geteuid() && !is_of_the_system(facts.st_uid))
    return fail(Errc::kAuth, path +
                                 " belongs to another user; make it your own, or name another "
                                 "directory by XDG_CONFIG_HOME");
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fail(Errc::kAuth, path + " can be written by others; run: chmod go-w " + path);
  if (facts.st_size > static_cast<off_t>(kFileBytesMax))
    return fail(Errc::kInvalid,
                path + " is longer than " + std::to_string(kFileBytesMax) + " bytes");
  return {};
}

tl::unexpected<Error> unreadable(Errc code, const std::string& path) {
  return fail(code, path + " cannot be read: " + std::strerror(errno));
}

}  // namespace

Result<std::vector<Assignment>> parse_config(std::string_view text, const std::string& path) {
  if (text.find('\0') != std::string_view::npos)
    return fail(Errc::kInvalid, path + " holds a zero byte; it takes text");
  Parse parse{path};
  const int line = ini_parse_string(std::string(text).c_str(), take_line, &parse);
  if (line == 0) return std::move(parse.found);
  return fail(Errc::kInvalid,
              path + ":" + std::to_string(line) + ": " +
                  (parse.problem.empty() ? "a line is NAME = VALUE, in less than 200 bytes"
                                         : parse.problem));
}

Result<std::vector<Assignment>> read_config_file(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return std::vector<Assignment>();
    return unreadable(Errc::kAuth, path);
  }
  struct stat facts {};
  if (::fstat(file.number(), &facts) != 0) return unreadable(Errc::kSystem, path);
  if (const Status good = check_file(facts, path); !good) return tl::unexpected(good.error());
  const auto text = read_text(file.number(), path, kFileBytesMax);
  if (!text) return tl::unexpected(text.error());
  return parse_config(*text, path);
}

std::vector<std::string> config_paths() {
  std::vector<std::string> paths = {"/etc/livebtl/livebtl.conf"};
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  const char* const home = std::getenv("HOME");
  if (config != nullptr && *config == '/') {
    paths.push_back(std::string(config) + "/livebtl.conf");
  } else if (home != nullptr && *home == '/') {
    paths.push_back(std::string(home) + "/.config/livebtl.conf");
  }
  return paths;
}

Result<std::vector<Assignment>> read_config_files(const std::vector<std::string>& paths) {
  std::vector<Assignment> all;
  for (const std::string& path : paths) {
    auto read = read_config_file(path);
    if (!read) return tl::unexpected(read.error());
    std::ranges::move(*read, std::back_inserter(all));
  }
  return all;
}

}  // namespace livebtl
