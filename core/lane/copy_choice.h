// SPDX-License-Identifier: BSD-3-Clause
// core/lane/copy_choice.h -- which way a large message goes where two are open: copied through the
// transport's buffers, by both ends at once, or exposed for a zero-copy read, by the receiver
// alone.
//
// Which is faster depends on the machine, on the size, and on what else both ends do. So the first
// transfers of a size are timed both ways; later ones go the faster way, and now and then some go
// the other way, since that may have become faster. Always several in a row: the time of one among
// others tells little, as its end is reported together with theirs. The first of a series are not
// timed: what they use has left the caches, and one that takes five times as long would decide. Nor
// are those next to a change of the way: of a window of transfers, some lie copied in a ring while
// others are read, and what the one end does for either way hides behind what the other does.
// While large messages also come from the peer, the work of both ends decides (copy_work.h): both
// processors are busy then, and the time of a transfer includes much that is not its own.
//
// Pure. Threads: as the Peer that it is part of.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "core/lane/copy_work.h"

namespace livebtl::core {

class CopyChoice {
 public:
  enum class Way : std::uint8_t { kCopied, kExposed };

  /// The way of the next transfer, of that many bytes.
  Way next(std::uint64_t bytes) noexcept {
    Sizes& sizes = sizes_of(bytes);
    const std::uint32_t series = sizes.transfers++ / series_of(bytes).length();
    if (series < kTrials) return series % 2 == 0 ? Way::kCopied : Way::kExposed;
    const bool other = series % kOtherWayEvery == kOtherWayFirst;
    return exposing_is_better(sizes) != other ? Way::kExposed : Way::kCopied;
  }

  /// A transfer, of at least one byte, was taken in full. It began when posted, or when the
  /// previous one ended if that was later. came_bytes: of the peer's large messages, since it was
  /// posted.
  void took(Way way, std::uint64_t bytes, std::uint64_t came_bytes, TimeNs posted,
            TimeNs ended) noexcept {
    const TimeNs time = std::max<TimeNs>(ended - std::max(posted, last_ended_), 0);
    last_ended_ = ended;
    exposes_ = exposes_ || way == Way::kExposed;
    note_came(came_bytes >= bytes / 2);
    Sizes& sizes = sizes_of(bytes);
    Cost& cost = sizes.cost[static_cast<std::size_t>(way)];
    const Series series = series_of(bytes);
    if (sizes.ended_way != way) {
      for (Cost& each : sizes.cost) each.end(series.timed / 2);
      sizes.ended_way = way;
      sizes.ended_alike = 0;
    }
    const std::uint32_t place = sizes.ended_alike++ % series.length();
    if (both_ways() && sizes.work.exposing_is_less().has_value()) return cost.begin();
    if (place < series.untimed_before || place >= series.untimed_before + series.timed) return;
    cost.add(static_cast<std::uint64_t>(time), bytes);
    if (cost.timed == series.timed) cost.settle();
  }

  /// What is known of the copies of transfers of this size.
  CopyWork& work(std::uint64_t bytes) noexcept { return sizes_of(bytes).work; }

  /// Transfers that go the same way, in the order of their ends.
  struct Series {
    std::uint32_t untimed_before, timed, untimed_after;
    constexpr std::uint32_t length() const noexcept {
      return untimed_before + timed + untimed_after;
    }
  };
  /// Of transfers of this size: the smaller they are, the more of them are under way at a time.
  static constexpr Series series_of(std::uint64_t bytes) noexcept {
    if (bytes <= 64u << 10) return {16, 32, 16};
    return bytes <= 256u << 10 ? Series{8, 16, 8} : Series{4, 8, 0};
  }
  static constexpr std::uint32_t kTrials = 2;         // series
  static constexpr std::uint32_t kOtherWayFirst = 8;  // series; soon, as the trials are short
  // Series. Odd, so that it wanders through windows of 2^n transfers.
  static constexpr std::uint32_t kOtherWayEvery = 63;

 private:
  struct Cost {
    std::uint64_t known = 0;    // ns for kUnitBytes; 0: not known
    std::uint64_t time_ns = 0;  // of the series that is being timed
    std::uint64_t bytes = 0;
    std::uint32_t timed = 0;

    void add(std::uint64_t its_time_ns, std::uint64_t its_bytes) noexcept {
      time_ns += its_time_ns;
      bytes += its_bytes;
      ++timed;
    }
    void begin() noexcept {
      time_ns = bytes = 0;
      timed = 0;
    }
    // A series may be cut short: the way is chosen anew if a transfer's data went ahead in vain.
    void end(std::uint32_t timed_min) noexcept {
      if (timed >= timed_min) settle();
      begin();
    }
    // A series in which an end did not run for a while tells nothing of the way: limit its weight.
    void settle() noexcept {
      const std::uint64_t its = std::max<std::uint64_t>(time_ns * kUnitBytes / bytes, 1);
      known = known == 0 ? its : (known + std::min(its, 2 * known)) / 2;
      begin();
    }
  };
  struct Sizes {
    std::array<Cost, 2> cost{};  // by Way
    CopyWork work;
    std::uint32_t transfers = 0;
    std::uint32_t ended_alike = 0;  // in a row
    std::optional<Way> ended_way;   // of the last one
  };
  static constexpr std::uint64_t kUnitBytes = 64u << 10;

  /// Up to 16 KiB, 32 KiB, 64 KiB and so on to 4 MiB; and above.
  Sizes& sizes_of(std::uint64_t bytes) noexcept {
    const auto doublings = static_cast<std::size_t>(std::bit_width((bytes - 1) >> 14));
    return sizes_[std::min(doublings, sizes_.size() - 1)];
  }
  // Messages go both ways if they mostly did so lately.
  void note_came(bool came) noexcept {
    came_of_late_ = came ? std::min(came_of_late_ + 1, kOfLate) : std::max(came_of_late_ - 1, 0);
  }
  bool both_ways() const noexcept { return came_of_late_ > kOfLate / 2; }
  // While messages went both ways, no time was taken: the work is a better guess than none, unless
  // what is exposed never comes about, as where the peer may not read here.
  bool exposing_is_better(const Sizes& sizes) const noexcept {
    const std::uint64_t copied = sizes.cost[0].known, exposed = sizes.cost[1].known;
    const bool by_work = both_ways() || (exposes_ && (copied == 0 || exposed == 0));
    const std::optional<bool> less = by_work ? sizes.work.exposing_is_less() : std::nullopt;
    return less.value_or(exposed != 0 && (copied == 0 || exposed < copied));
  }

  static constexpr int kOfLate = 16;  // transfers

  std::array<Sizes, 10> sizes_;
  int came_of_late_ = 0;
  bool exposes_ = false;  // some transfer has ended that way
  TimeNs last_ended_ = 0;
};

}  // namespace livebtl::core
