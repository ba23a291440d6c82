// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/checksum.cc -- see checksum.h.
#include "hypervisor/set/checksum.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/crc32c.h"

namespace livebtl::hypervisor {
namespace {

constexpr std::size_t kChecksumBlock = std::size_t{4} << 20;

}  // namespace

Result<std::uint32_t> checksum_of(const Fd& file, const std::atomic<bool>* stop) {
  std::vector<std::byte> block(kChecksumBlock);
  std::uint32_t checksum = 0;
  for (off_t at = 0;;) {
    if (stop != nullptr && stop->load())
      return fail(Errc::kCancelled, "interrupted while it was read");
    const ssize_t count = ::pread(file.number(), block.data(), block.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      return fail(Errc::kSystem, std::string("cannot be read: ") + std::strerror(errno));
    if (count == 0) return checksum;
    checksum = crc32c(Bytes(block).first(static_cast<std::size_t>(count)), checksum);
    at += count;
  }
}

}  // namespace livebtl::hypervisor
