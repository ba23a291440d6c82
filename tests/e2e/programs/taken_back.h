// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/taken_back.h -- part of the program `taken_back`: memory that is registered,
// taken back and used for something else. Main thread.
#pragma once

#include <sys/mman.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "proof.h"

namespace e2e {

/// Sizes of the puts under way at once, each with its own place: in one frame, and in pieces.
inline constexpr std::array<std::size_t, 8> kSizes{64,      8192,      100'000,   300'000,
                                                   600'000, 1'000'000, 1'000'000, 2'000'000};
inline constexpr std::size_t kPage = 4096;

constexpr std::size_t place_of(std::size_t index) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < index; ++i) at += (kSizes[i] + kPage - 1) / kPage * kPage;
  return at;
}
inline constexpr std::size_t kBytes = place_of(kSizes.size());

/// Memory between two inaccessible pages.
class Guarded {
 public:
  Guarded() {
    void* const map =
        ::mmap(nullptr, kBytes + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) std::abort();
    begin_ = static_cast<std::byte*>(map) + kPage;
    allow();
  }
  ~Guarded() { ::munmap(begin_ - kPage, kBytes + 2 * kPage); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  std::byte* data() const { return begin_; }
  /// From now on an access ends the job; the kernel, when it copies for others, gets an error.
  void forbid() { protect(PROT_NONE); }
  void allow() { protect(PROT_READ | PROT_WRITE); }
  void use_otherwise(std::uint64_t seed) {
    for (std::size_t at = 0; at < kBytes; at += 8) {
      const std::uint64_t word = mix(seed + at);
      std::memcpy(begin_ + at, &word, 8);
    }
    seed_ = seed;
  }
  bool is_untouched() const {
    std::uint64_t word = 0;
    for (std::size_t at = 0; at < kBytes; at += 8) {
      std::memcpy(&word, begin_ + at, 8);
      if (word != mix(seed_ + at)) return false;
    }
    return true;
  }
  /// How many puts had delivered some of their bytes, but not all.
  std::uint64_t torn() const {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      const std::byte* const first = begin_ + place_of(i);
      if (std::memcmp(first, first + 8, kSizes[i] - 8) != 0) ++count;
    }
    return count;
  }

 private:
  void protect(int access) {
    if (::mprotect(begin_, kBytes, access) != 0) std::abort();
  }

  std::byte* begin_ = nullptr;
  std::uint64_t seed_ = 0;  // of the content when it is used otherwise
};

}  // namespace e2e
