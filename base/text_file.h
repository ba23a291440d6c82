// SPDX-License-Identifier: BSD-3-Clause
// base/text_file.h -- a file from outside, read as one text. Any thread; blocks as the file system
// does.
#pragma once

#include <cstddef>
#include <string>

#include "livebtl/result.h"

namespace livebtl {

/// The whole file, whatever it is (a directory, or a file of /proc whose process has ended, just
/// fails). If it is longer than max_bytes, nothing of it is returned: a part says nothing about the
/// rest. Errors: kSystem, kLimit.
Result<std::string> read_text(const std::string& path, std::size_t max_bytes);
/// The rest of an open file, from its current offset; `fd` stays the caller's.
Result<std::string> read_text(int fd, const std::string& path, std::size_t max_bytes);

}  // namespace livebtl
