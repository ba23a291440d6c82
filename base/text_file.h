// SPDX-License-Identifier: BSD-3-Clause
// base/text_file.h -- a file from outside as one text. Any thread; blocks as the file system does.
#pragma once

#include <cstddef>
#include <string>

#include "livebtl/result.h"

namespace livebtl {

/// The whole file, whatever it turns out to be (a directory, or a file of /proc whose process has
/// ended, only fails). Of more than max_bytes nothing is given: of a part alone nothing could be
/// said of what follows. Errors: kSystem, kLimit.
Result<std::string> read_text(const std::string& path, std::size_t max_bytes);
/// Of one that is open, which stays the caller's, from where it stands on.
Result<std::string> read_text(int fd, const std::string& path, std::size_t max_bytes);

}  // namespace livebtl
