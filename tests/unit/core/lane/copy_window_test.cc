// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/lane/copy_window_test.cc -- core/lane/copy_choice.h: windows of transfers, in which
// the copies of one way overlap with those of the other.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "core/lane/copy_choice.h"

namespace livebtl::core {
namespace {

using Way = CopyChoice::Way;

/// A window of transfers posted at once. Copied ones are put into a ring, which has room for eight,
/// while earlier ones are taken out or read.
struct Windows {
  static constexpr std::uint64_t kSmall = 32u << 10;
  static constexpr std::size_t kRoom = 8;
  static constexpr TimeNs kIn = 100, kOut = 45, kRead = 70;

  CopyChoice choice{};
  TimeNs sender = 1, receiver = 1;
  std::array<TimeNs, kRoom> taken{};  // when the last copied ones were
  std::size_t copied = 0;

  int exposed_of_window() {
    const TimeNs posted = receiver;
    sender = std::max(sender, posted);
    std::array<Way, 64> ways{};
    for (Way& way : ways) way = choice.next(kSmall);
    for (const Way way : ways) {
      if (way == Way::kExposed) {
        receiver += kRead;
      } else {
        TimeNs& room_since = taken[copied++ % kRoom];
        sender = std::max(sender, room_since) + kIn;
        receiver = std::max(receiver, sender) + kOut;
        room_since = receiver;
      }
      choice.took(way, kSmall, 0, posted, receiver);
    }
    return static_cast<int>(std::ranges::count(ways, Way::kExposed));
  }
};

}  // namespace

TEST_CASE("what lies in the ring at a change of the way does not decide") {
  Windows windows;
  int exposed = 0;
  for (int window = 0; window < 200; ++window) exposed += windows.exposed_of_window();
  CHECK(exposed > 190 * 64);
}

}  // namespace livebtl::core
