// SPDX-License-Identifier: BSD-3-Clause
// core/released.h -- proof of a release: what a transport held, by the kernel's names, and whether
// any of it is left in /proc/self after it was closed (a copy of the descriptor in another library,
// a mapping).
#pragma once

#include <string>
#include <vector>

namespace livebtl::core {

class Holdings {
 public:
  /// The kernel's names ("socket:[123]", "/memfd:livebtl-sm (deleted)") of these descriptors of
  /// this process.
  static Holdings of_process(const std::vector<int>& descriptors);
  /// Those that /proc/self/fd or /proc/self/maps still shows: "socket:[123] is still open as
  /// descriptor 17".
  std::vector<std::string> still_held() const;

 private:
  std::vector<std::string> names_;
};

}  // namespace livebtl::core
