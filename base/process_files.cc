// SPDX-License-Identifier: BSD-3-Clause
// base/process_files.cc -- see process_files.h.
#include "base/process_files.h"

#include "base/hex.h"

namespace livebtl {

std::string process_file(ProcessId process, std::string_view kind) {
  return hex_digits(static_cast<std::uint64_t>(process), 16).append(kind);
}

}  // namespace livebtl
