// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_directory_kept.cc -- how one node's file is told from leavings if set.json is
// on another node: see set_directory.h. Run by btlctl's one thread.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "hypervisor/set/set_directory.h"

namespace livebtl::hypervisor {

std::vector<std::string> SetDirectory::marks() const {
  std::vector<std::string> names;
  if (*form_.kept == '\0') return names;
  for (const std::string& machine : machines_) names.push_back(machine + form_.kept);
  return names;
}

Status SetDirectory::keep(const std::string& machine) {
  const std::string name = machine + form_.kept;
  const Fd made(::openat(directory_.number(), name.c_str(),
                         O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!made || ::fsync(directory_.number()) != 0)
    return failed(Errc::kSystem, name, std::strerror(errno));
  return {};
}

Status SetDirectory::look_for_kept() const {
  for (const std::string& name : marks()) {
    std::error_code unseen;
    if (std::filesystem::exists(std::filesystem::symlink_status(path_ + "/" + name, unseen)))
      return failed(Errc::kRefused, name,
                    "says that a file here may belong to a set whose set.json is on another node; "
                    "give another directory, or delete this one if that set is not wanted");
  }
  return {};
}

}  // namespace livebtl::hypervisor
