// SPDX-License-Identifier: BSD-3-Clause
// perf/messages.cc -- measure.h: latency, bandwidth one way and both ways.
#include <memory>
#include <utility>
#include <vector>

#include "perf/buffer.h"
#include "perf/measure.h"

namespace livebtl::perf {
namespace {

using Kind = Label::Kind;

constexpr std::uint64_t kBack = std::uint64_t{1}
                                << 62;   // in the content of messages from rank 1 to rank 0
constexpr std::size_t kAnswerBytes = 4;  // as OSU's

bool is_whole(Pair& pair, const Buffer& buffer, std::uint64_t message) {
  return buffer.holds(message) ||
         pair.fail_with(Errc::kCorrupt, "the content of message " +
                                            std::to_string(message & ~kBack) +
                                            " is not what was sent; please report it");
}

bool lead_latency(Pair& pair, Buffer& out, Buffer& in, bool check, Course& course) {
  TimeNs before = monotonic_now();
  bool last = false, echoed = false;
  for (std::uint64_t number = 0; !last; ++number) {
    last = course.is_last(number, before);
    if (check) {
      out.fill(number);
      before = monotonic_now();
    }
    if (!pair.send({Kind::kData, number, last}, out.slice()) ||
        !pair.receive(Kind::kData, number, in.room(), echoed))
      return false;
    const TimeNs now = monotonic_now();
    course.add(number, now - before);
    before = now;
    if (check && !is_whole(pair, in, number | kBack)) return false;
  }
  return true;
}

bool follow_latency(Pair& pair, Buffer& out, Buffer& in, bool check) {
  bool last = false;
  for (std::uint64_t number = 0; !last; ++number) {
    if (!pair.receive(Kind::kData, number, in.room(), last)) return false;
    if (check) {
      if (!is_whole(pair, in, number)) return false;
      out.fill(number | kBack);
    }
    if (!pair.send({Kind::kData, number, last}, out.slice())) return false;
  }
  return true;
}

/// One process's windows. Without a check all messages use one buffer, as OSU's do.
class Stream {
 public:
  Stream(Pair& pair, const Task& task)
      : pair_(pair),
        task_(task),
        out_(task.check ? task.window : 1, Buffer(task.bytes)),
        in_(task.check ? task.window : 1, Buffer(task.bytes)),
        sending_(std::make_unique<Waitable[]>(task.window)),
        receiving_(std::make_unique<Waitable[]>(task.window)) {}

  void fill(std::uint64_t first, std::uint64_t way) {
    for (std::size_t i = 0; task_.check && i < task_.window; ++i) out_[i].fill((first + i) | way);
  }
  bool begin_sends(std::uint64_t first, bool last) {
    for (std::size_t i = 0; i < task_.window; ++i) {
      if (!pair_.begin_send(sending_[i], {Kind::kData, first + i, last}, buffer(out_, i).slice()))
        return false;
    }
    return true;
  }
  bool wait_sends() {
    for (std::size_t i = 0; i < task_.window; ++i) {
      if (!pair_.wait(sending_[i])) return false;
    }
    return true;
  }
  bool begin_receives() {
    for (std::size_t i = 0; i < task_.window; ++i) {
      if (!pair_.begin_receive(receiving_[i], Kind::kData, buffer(in_, i).room())) return false;
    }
    return true;
  }
  bool wait_receives(std::uint64_t first, bool& last) {
    for (std::size_t i = 0; i < task_.window; ++i) {
      if (!pair_.wait(receiving_[i]) ||
          !pair_.is_message(receiving_[i], first + i, task_.bytes, last))
        return false;
    }
    return true;
  }
  bool check(std::uint64_t first, std::uint64_t way) {
    for (std::size_t i = 0; task_.check && i < task_.window; ++i) {
      if (!is_whole(pair_, in_[i], (first + i) | way)) return false;
    }
    return true;
  }

 private:
  static Buffer& buffer(std::vector<Buffer>& all, std::size_t i) {
    return all.size() == 1 ? all.front() : all[i];
  }

  Pair& pair_;
  const Task task_;
  std::vector<Buffer> out_, in_;
  std::unique_ptr<Waitable[]> sending_, receiving_;
};

/// A window both ways, or one way and the answer to it.
bool lead_window(Pair& pair, Stream& stream, const Task& task, std::uint64_t window, bool last) {
  const std::uint64_t first = window * task.window;
  bool ignored = false;
  if (task.test == Test::kBidirectional)
    return stream.begin_receives() && stream.begin_sends(first, last) && stream.wait_sends() &&
           stream.wait_receives(first, ignored);
  Buffer answer(kAnswerBytes);
  return stream.begin_sends(first, last) && stream.wait_sends() &&
         pair.receive(Kind::kAnswer, window, answer.room(), ignored);
}

bool lead_stream(Pair& pair, Stream& stream, const Task& task, Course& course) {
  TimeNs before = monotonic_now();
  bool last = false;
  for (std::uint64_t window = 0; !last; ++window) {
    last = course.is_last(window, before);
    if (task.check) {
      stream.fill(window * task.window, 0);
      before = monotonic_now();
    }
    if (!lead_window(pair, stream, task, window, last)) return false;
    const TimeNs now = monotonic_now();
    course.add(window, now - before);
    before = now;
    if (task.test == Test::kBidirectional && !stream.check(window * task.window, kBack))
      return false;
  }
  return true;
}

bool follow_stream(Pair& pair, Stream& stream, const Task& task) {
  const bool both = task.test == Test::kBidirectional;
  const Buffer answer(kAnswerBytes);
  bool last = false;
  for (std::uint64_t window = 0; !last; ++window) {
    const std::uint64_t first = window * task.window;
    if (both) stream.fill(first, kBack);
    if (!stream.begin_receives() ||
        (both && !(stream.begin_sends(first, false) && stream.wait_sends())) ||
        !stream.wait_receives(first, last) || !stream.check(first, 0))
      return false;
    if (!both && !pair.send({Kind::kAnswer, window, last}, answer.slice())) return false;
  }
  return true;
}

}  // namespace

bool measure_latency(Pair& pair, const Task& task, Course* course) {
  Buffer out(task.bytes), in(task.bytes);
  const Closing closing(pair);
  return course != nullptr ? lead_latency(pair, out, in, task.check, *course)
                           : follow_latency(pair, out, in, task.check);
}

bool measure_stream(Pair& pair, const Task& task, Course* course) {
  Stream stream(pair, task);
  const Closing closing(pair);
  return course != nullptr ? lead_stream(pair, stream, task, *course)
                           : follow_stream(pair, stream, task);
}

bool measure(Pair& pair, const Task& task, Course* course) {
  if (task.test == Test::kLatency) return measure_latency(pair, task, course);
  return is_stream(task.test) ? measure_stream(pair, task, course)
                              : measure_onesided(pair, task, course);
}

}  // namespace livebtl::perf
