// SPDX-License-Identifier: BSD-3-Clause
// base/random.h -- a small seeded generator (SplitMix64; Steele, Lea, Flood 2014). Passed as an
// argument, so that a simulation can be replayed. Not for secrets: see base/secret.h.
#pragma once

#include <cstdint>

namespace livebtl {

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  /// In [0, bound). bound > 0. (The bias is below 2^-32 for the small bounds used here.)
  constexpr std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }
  constexpr bool chance(double probability) noexcept {
    return static_cast<double>(next() >> 11) * 0x1.0p-53 < probability;
  }

 private:
  std::uint64_t state_;
};

}  // namespace livebtl
