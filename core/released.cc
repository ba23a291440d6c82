// SPDX-License-Identifier: BSD-3-Clause
// core/released.cc -- see released.h.
#include "core/released.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace livebtl::core {

namespace {

std::string name_of(const std::filesystem::path& link) {
  std::error_code error;
  const auto target = std::filesystem::read_symlink(link, error);
  return error ? std::string{} : target.string();
}

}  // namespace

Holdings Holdings::of_process(const std::vector<int>& descriptors) {
  Holdings holdings;
  for (const int fd : descriptors) {
    std::string name = name_of("/proc/self/fd/" + std::to_string(fd));
    // Anonymous inodes (epoll, eventfd) share one name: nothing could be proved by it.
    if (!name.empty() && name.rfind("anon_inode:", 0) != 0)
      holdings.names_.push_back(std::move(name));
  }
  return holdings;
}

std::vector<std::string> Holdings::still_held() const {
  std::vector<std::string> left;
  if (names_.empty()) return left;
  const auto held = [&](const std::string& name) {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  };
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = name_of(entry.path());
    if (!name.empty() && held(name))
      left.push_back(name + " is still open as descriptor " + entry.path().filename().string());
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t at = line.find('/');
    if (at != std::string::npos && held(line.substr(at)))
      left.push_back(line.substr(at) + " is still mapped");
  }
  return left;
}

}  // namespace livebtl::core
