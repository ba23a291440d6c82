// SPDX-License-Identifier: BSD-3-Clause
// perf/onesided.cc -- measure.h: rank 0 acts on memory of rank 1, which waits in a receive and
// drives its engine, as a rank that waits in MPI does.
#include <algorithm>
#include <memory>
#include <vector>

#include "perf/buffer.h"
#include "perf/measure.h"

namespace livebtl::perf {
namespace {

using Kind = Label::Kind;

constexpr std::uint64_t kInvitationNumber = 1, kFinishNumber = 2, kSeenNumber = 3;
constexpr std::uint64_t kRegionContent = 12345;  // for gets to read

/// A window of rank 0's operations.
class Operations {
 public:
  Operations(Pair& pair, const Task& task, std::uint64_t key)
      : pair_(pair),
        task_(task),
        key_(key),
        here_(task.bytes * task.window),
        back_(task.check && task.test == Test::kPut ? task.bytes * task.window : 0),
        fetched_(task.window),
        under_way_(std::make_unique<Waitable[]>(task.window)) {}

  void fill(std::uint64_t window) {
    if (task_.check && task_.test == Test::kPut) here_.fill(window);
  }
  bool run() { return run(task_.test, here_); }

  /// Checks the window that has just ended. A put is read back.
  bool check(std::uint64_t window) {
    if (task_.test == Test::kAtomic) return check_fetched(window);
    if (!task_.check) return true;
    if (task_.test == Test::kPut && !run(Test::kGet, back_)) return false;
    const bool whole = task_.test == Test::kPut ? back_.holds(window) : here_.holds(kRegionContent);
    return whole || pair_.fail_with(Errc::kCorrupt,
                                    "the memory does not hold what was put there; "
                                    "please report it");
  }

 private:
  bool begin_one(Test test, Buffer& buffer, std::size_t i) {
    const Remote remote{key_, i * task_.bytes};
    const MutableSlice room{buffer.data() + i * task_.bytes, task_.bytes};
    const Slice slice{room.data, room.bytes};
    Waitable& operation = under_way_[i];
    Port& port = pair_.port();
    if (test == Test::kPut)
      return pair_.begin(operation, [&] {
        return port.put({.to = pair_.other(), .remote = remote, .slices = {&slice, 1}}, operation);
      });
    if (test == Test::kGet)
      return pair_.begin(operation, [&] {
        return port.get({.to = pair_.other(), .remote = remote, .slices = {&room, 1}}, operation);
      });
    const std::uint64_t one = 1;
    AtomicRequest request{.to = pair_.other(), .remote = {key_, 0}};
    request.operand = &one;
    request.fetched = &fetched_[i];
    return pair_.begin(operation, [&] { return port.atomic(request, operation); });
  }

  bool run(Test test, Buffer& buffer) {
    for (std::size_t i = 0; i < task_.window; ++i) {
      if (!begin_one(test, buffer, i)) return false;
    }
    for (std::size_t i = 0; i < task_.window; ++i) {
      if (!pair_.wait(under_way_[i])) return false;
    }
    return true;
  }

  /// Each addition was made once if together they fetched every number that follows the last
  /// window's, in any order.
  bool check_fetched(std::uint64_t window) {
    std::sort(fetched_.begin(), fetched_.end());
    for (std::size_t i = 0; i < task_.window; ++i) {
      if (fetched_[i] != window * task_.window + i)
        return pair_.fail_with(Errc::kCorrupt,
                               "a fetch-and-add was lost or repeated; please report it");
    }
    return true;
  }

  Pair& pair_;
  const Task task_;
  const std::uint64_t key_;
  Buffer here_, back_;
  std::vector<std::uint64_t> fetched_;
  std::unique_ptr<Waitable[]> under_way_;
};

bool lead_operations(Operations& operations, Course& course, std::uint64_t& windows) {
  TimeNs before = monotonic_now();
  for (bool last = false; !last; ++windows) {
    last = course.is_last(windows, before);
    operations.fill(windows);
    before = monotonic_now();
    if (!operations.run()) return false;
    const TimeNs now = monotonic_now();
    course.add(windows, now - before);
    before = now;
    if (!operations.check(windows)) return false;
  }
  return true;
}

bool lead(Pair& pair, const Task& task, Course& course) {
  std::uint64_t key = 0, windows = 0;
  bool ignored = false;
  if (!pair.receive(Kind::kControl, kInvitationNumber, {&key, sizeof key}, ignored)) return false;
  Operations operations(pair, task, key);
  const Closing closing(pair);
  if (!lead_operations(operations, course, windows)) return false;
  const std::uint64_t total = windows * task.window;
  char seen = 0;
  return pair.send({Kind::kControl, kFinishNumber, true}, {&total, sizeof total}) &&
         pair.receive(Kind::kControl, kSeenNumber, {&seen, sizeof seen}, ignored);
}

/// The receive of the leading process's last message, and its content: the sum of all
/// fetch-and-adds.
struct Finish {
  Waitable receive;
  std::uint64_t total = 0;
};

/// Rank 1: lends its memory until it is told that nothing follows.
bool lend(Pair& pair, Finish& finish, std::uint64_t key) {
  bool last = false;
  return pair.send({Kind::kControl, kInvitationNumber}, {&key, sizeof key}) &&
         pair.begin_receive(finish.receive, Kind::kControl, {&finish.total, sizeof finish.total}) &&
         pair.wait_for_orders(finish.receive) &&
         pair.is_message(finish.receive, kFinishNumber, sizeof finish.total, last);
}

bool holds_sum(Pair& pair, Buffer& memory, std::uint64_t total) {
  std::uint64_t sum = 0;
  std::memcpy(&sum, memory.data(), sizeof sum);
  return sum == total ||
         pair.fail_with(Errc::kCorrupt, "the sum of all fetch-and-adds is " + std::to_string(sum) +
                                            " and not " + std::to_string(total) +
                                            "; please report it");
}

bool follow(Pair& pair, const Task& task) {
  Buffer memory(task.bytes * task.window);
  Finish finish;
  const Closing closing(pair);
  if (task.test == Test::kGet) memory.fill(kRegionContent);
  if (task.test == Test::kAtomic) std::memset(memory.data(), 0, task.bytes);
  RegionRequest region;
  region.base = memory.data();
  region.bytes = task.bytes * task.window;
  const auto key = pair.port().register_region(region);
  if (!key) return pair.fail_with(key.error().code, key.error().text);
  const bool lent = lend(pair, finish, *key);
  const auto done = pair.port().deregister_region(*key);
  if (!lent) return false;
  if (!done) return pair.fail_with(done.error().code, done.error().text);
  if (task.test == Test::kAtomic && !holds_sum(pair, memory, finish.total)) return false;
  const char seen = 1;
  return pair.send({Kind::kControl, kSeenNumber, true}, {&seen, sizeof seen});
}

}  // namespace

bool measure_onesided(Pair& pair, const Task& task, Course* course) {
  return course != nullptr ? lead(pair, task, *course) : follow(pair, task);
}

}  // namespace livebtl::perf
