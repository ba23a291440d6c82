// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/zero_copy.h -- exposed payloads, for the behaviours of transports with zero-copy reads.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>

#include "tests/conformance/rig.h"

namespace livebtl::conformance {

inline bool exposes(const Rig& rig) { return rig.zero_copy_max() != 0; }
/// And may end that by ending everything, with its peer in this process.
inline bool exposes_and_ends(const Rig& rig) { return exposes(rig) && rig.subject().lost_beside; }

/// Payloads that stay where they are, the end that exposes them, and which were posted.
struct Exposures {
  explicit Exposures(End& its_end) : end(its_end) {}

  /// false: not now. A payload that the transport wants in pieces counts as not exposed.
  bool expose(std::uint64_t cookie, std::size_t bytes) {
    const Blob header = pattern(cookie, 24);
    payloads.push_back(pattern(cookie + 1, bytes));
    const Post post = end.endpoint().post({header, payloads.back(), cookie, true, true});
    CHECK_MESSAGE(post != Post::kDone, "what is exposed is kPosted");
    if (post == Post::kPosted) posted.push_back(cookie);
    if (post != Post::kPosted) payloads.pop_back();
    return post == Post::kPosted;
  }
  /// Exposes `count` at once, without a turn for anybody.
  void expose_at_once(std::size_t count, std::size_t bytes) {
    for (int tries = 0; tries < 1000 && posted.size() < count; ++tries)
      expose(posted.size(), bytes);
    REQUIRE(posted.size() == count);
  }
  void overwrite() {
    for (Blob& payload : payloads) std::fill(payload.begin(), payload.end(), std::byte{0xEE});
  }

  End& end;
  std::deque<Blob> payloads;
  std::vector<std::uint64_t> posted;
};

}  // namespace livebtl::conformance
