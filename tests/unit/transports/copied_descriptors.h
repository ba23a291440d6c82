// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/copied_descriptors.h -- plays a child that the process has forked and that
// does not exec: it holds whatever the process had open then. Also tells whether a transport lets
// its process sleep.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/fd.h"
#include "tests/conformance/rig.h"

namespace livebtl::test {

class CopiedDescriptors {
 public:
  /// but: descriptors of the other end, which would really belong to another process.
  explicit CopiedDescriptors(std::initializer_list<int> but = {}) {
    std::vector<int> open;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
      open.push_back(std::stoi(entry.path().filename().string()));
    for (const int fd : open) {
      if (std::find(but.begin(), but.end(), fd) == but.end()) copies_.emplace_back(::dup(fd));
    }
  }

 private:
  std::vector<Fd> copies_;
};

inline bool readable(int fd, int timeout_ms = 0) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, timeout_ms) == 1;
}

/// false: something keeps waking it.
inline bool falls_asleep(conformance::Side& side) {
  for (int i = 0; i < 100; ++i) {
    side.transport->arm();
    side.turn();
    if (side.transport->arm() && !readable(side.transport->wait_fd(), 1)) return true;
  }
  return false;
}

}  // namespace livebtl::test
