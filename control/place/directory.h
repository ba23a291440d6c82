// SPDX-License-Identifier: BSD-3-Clause
// control/place/directory.h -- small files in directories that others can write to, read without
// being led astray.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "livebtl/result.h"

namespace livebtl::control {

/// The first `most` names in a directory, without "." and "..". Errors: kNotFound, kNoMemory (no
/// descriptor), kSystem.
Result<std::vector<std::string>> read_directory(const std::string& path,
                                                std::size_t most = SIZE_MAX);
/// The same; empty if it cannot be read.
std::vector<std::string> list_directory(const std::string& path, std::size_t most = SIZE_MAX);

/// The content of a regular file, not a link, of at most bytes_max bytes, that belongs to `owner`;
/// with `secret` it must also be closed to everybody else (mode 0600 or less). Errors: kNotFound,
/// kAuth, kLimit, kSystem.
struct FileRule {
  uid_t owner = 0;
  std::size_t bytes_max = 4096;
  bool secret = false;
};
Result<std::string> read_small_file(const std::string& path, const FileRule& rule);

/// Reads a descriptor up to its end, at most bytes_max. Errors: kLimit, kSystem.
Result<std::string> read_descriptor(int fd, std::size_t bytes_max);

/// Writes all of it. Errors: kSystem.
Status write_descriptor(int fd, std::string_view text);

}  // namespace livebtl::control
