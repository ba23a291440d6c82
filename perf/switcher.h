// SPDX-License-Identifier: BSD-3-Clause
// perf/switcher.h -- a separate process that switches the job between two transports, as btlctl
// does, and what the measuring process sees of it: a page of memory that both share.
//
// Threads:   one on either side. The process is forked before the engine starts, since an engine
//            has threads; it ends with its parent.
// Ownership: the Switcher owns page and process.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "livebtl/result.h"
#include "perf/histogram.h"

namespace livebtl::perf {

struct SwitchBoard {
  enum Wish : std::uint32_t { kRest, kOnce, kAgain, kEnd };
  std::atomic<std::uint32_t> wish{kRest};   // the measuring process's
  std::atomic<std::uint32_t> heard{kRest};  // kRest again: no switch is under way
  std::atomic<std::uint32_t> begun{0}, done{0};
  std::atomic<bool> failed{false};
  char problem[512] = {};  // once failed; ends with 0
};

class Switcher {
 public:
  /// transports: two. Errors: kSystem.
  static Result<std::unique_ptr<Switcher>> start(const std::string& job,
                                                 const std::vector<std::string>& transports,
                                                 TimeNs every);
  ~Switcher();
  Switcher(const Switcher&) = delete;
  Switcher& operator=(const Switcher&) = delete;

  void wish(SwitchBoard::Wish wish) noexcept { board_->wish.store(wish); }
  /// No switch is under way or wished for; or one has failed.
  bool rests() const noexcept {
    return failed() || (board_->wish.load() == SwitchBoard::kRest &&
                        board_->heard.load() == SwitchBoard::kRest);
  }
  /// Also once its process has ended by itself, which is looked for now and then.
  bool failed() const noexcept {
    constexpr std::uint32_t kCallsBetween = 1024;
    if (++calls_ % kCallsBetween == 0) look_for_its_end();
    return board_->failed.load(std::memory_order_acquire);
  }
  std::string problem() const { return board_->problem; }
  const SwitchBoard& board() const noexcept { return *board_; }

 private:
  Switcher(SwitchBoard* board, pid_t process) : board_(board), process_(process) {}

  void look_for_its_end() const noexcept;

  SwitchBoard* const board_;
  const pid_t process_;
  mutable std::uint32_t calls_ = 0;
};

/// For each switch, the longest of the times that overlapped it.
class SwitchWatch {
 public:
  explicit SwitchWatch(const SwitchBoard& board) noexcept
      : board_(board), done_(board.done.load()), first_(done_) {}

  /// A time that ends now.
  void observe(TimeNs time) {
    const std::uint32_t done = board_.done.load(std::memory_order_relaxed);
    const bool ended = done != done_;
    if (!ended && board_.begun.load(std::memory_order_relaxed) == done) return;
    longest_ = time > longest_ ? time : longest_;
    if (!ended) return;
    longest_times_.add(longest_);
    longest_ = 0;
    done_ = done;
  }
  std::uint32_t switches() const noexcept { return board_.done.load() - first_; }
  const Histogram& longest_times() const noexcept { return longest_times_; }

 private:
  const SwitchBoard& board_;
  std::uint32_t done_, first_;
  TimeNs longest_ = 0;
  Histogram longest_times_;
};

}  // namespace livebtl::perf
