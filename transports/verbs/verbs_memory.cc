// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_memory.cc -- see verbs_memory.h.
#include "transports/verbs/verbs_memory.h"

#include <sys/mman.h>

#include <cerrno>

#include "transports/verbs/verbs_errors.h"

namespace livebtl::verbs {

constexpr std::size_t kPieceBytes = kBufferBytes * Memory::kPieceBuffers;

Memory::~Memory() {
  for (const Piece& piece : pieces_) {
    calls_.dereg_mr(piece.region);
    ::munmap(piece.begin, kPieceBytes);
  }
}

Status Memory::add_piece() {
  void* const begin =
      ::mmap(nullptr, kPieceBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) return tl::unexpected(cannot_register(kPieceBytes, errno));
  ::madvise(begin, kPieceBytes, MADV_DONTFORK);
  ibv_mr* const region = calls_.reg_mr(domain_, begin, kPieceBytes, IBV_ACCESS_LOCAL_WRITE);
  if (region == nullptr) {
    const int error = errno;
    ::munmap(begin, kPieceBytes);
    return tl::unexpected(cannot_register(kPieceBytes, error));
  }
  pieces_.push_back({static_cast<std::byte*>(begin), region});
  return {};
}

}  // namespace livebtl::verbs
