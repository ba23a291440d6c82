// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/relay/processes.h -- the helpers that a job's members have started.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/text_file.h"

namespace livebtl::test {

/// Processes of the program livebtl-relay with this first word and this directory.
inline std::vector<pid_t> helpers(const std::string& word, const std::string& directory) {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto pid = parse_number<pid_t>(entry.path().filename().string());
    if (!pid) continue;
    const std::string line =
        read_text(entry.path() / "cmdline", 1 << 20).value_or("");  // it may end meanwhile
    const std::string wanted = std::string("livebtl-relay") + '\0' + word + '\0' + directory + '\0';
    if (line.find(wanted) != std::string::npos) found.push_back(*pid);
  }
  return found;
}

}  // namespace livebtl::test
