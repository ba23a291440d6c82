// SPDX-License-Identifier: BSD-3-Clause
// base/process_files.cc -- see process_files.h.
#include "base/process_files.h"

#include <array>
#include <cstdio>

namespace livebtl {

std::string process_file(ProcessId process, std::string_view kind) {
  std::array<char, 17> name{};
  std::snprintf(name.data(), name.size(), "%016llx", static_cast<unsigned long long>(process));
  return name.data() + std::string(kind);
}

}  // namespace livebtl
