// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/loans.h -- payloads that are lent, for the behaviours of transports that lend.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>

#include "tests/conformance/rig.h"

namespace livebtl::conformance {

inline bool lends(const Rig& rig) { return rig.lent_max() != 0; }
/// And may end that by ending all, beside its peer in this process.
inline bool lends_and_ends(const Rig& rig) { return lends(rig) && rig.subject().lost_beside; }

/// Payloads that stay where they are, the way there, and what was answered.
struct Loans {
  explicit Loans(End& its_end) : end(its_end) {}

  /// false: not now. What the transport would rather have in pieces counts as not lent.
  bool lend(std::uint64_t cookie, std::size_t bytes) {
    const Blob header = pattern(cookie, 24);
    payloads.push_back(pattern(cookie + 1, bytes));
    const Post post = end.endpoint().post({header, payloads.back(), cookie, true});
    CHECK_MESSAGE(post != Post::kDone, "what is lent is kPosted");
    if (post == Post::kPosted) posted.push_back(cookie);
    if (post != Post::kPosted) payloads.pop_back();
    return post == Post::kPosted;
  }
  /// Some that are on their way at once, without a turn of anybody.
  void lend_at_once(std::size_t count, std::size_t bytes) {
    for (int tries = 0; tries < 1000 && posted.size() < count; ++tries) lend(posted.size(), bytes);
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
