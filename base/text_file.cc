// SPDX-License-Identifier: BSD-3-Clause
// base/text_file.cc -- see text_file.h.
#include "base/text_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/fd.h"

namespace livebtl {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

tl::unexpected<Error> unreadable(const std::string& path) {
  return fail(Errc::kSystem, path + " cannot be read: " + std::strerror(errno));
}

}  // namespace

Result<std::string> read_text(const std::string& path, std::size_t max_bytes) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return unreadable(path);
  return read_text(file.number(), path, max_bytes);
}

Result<std::string> read_text(int fd, const std::string& path, std::size_t max_bytes) {
  std::string text;
  for (;;) {
    const std::size_t length = text.size();
    if (length > max_bytes)
      return fail(Errc::kLimit, path + " is longer than " + std::to_string(max_bytes) + " bytes");
    text.resize(length + std::min(kBlockBytes, max_bytes + 1 - length));
    const ssize_t count = ::read(fd, text.data() + length, text.size() - length);
    if (count < 0 && errno != EINTR) return unreadable(path);
    text.resize(length + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) return text;
  }
}

}  // namespace livebtl
