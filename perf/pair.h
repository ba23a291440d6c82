// SPDX-License-Identifier: BSD-3-Clause
// perf/pair.h -- one of the two processes: sends to the other, receives, waits, and remembers the
// first failure. From then on every call returns false at once, so a loop ends by what its step
// returns.
//
// Threads:   one, besides the engine's agent, which may complete operations.
// Ownership: engine, port and peer are shared with the library as livebtl/engine.h says.
#pragma once

#include <livebtl/engine.h>

#include <atomic>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/idle_spins.h"

namespace livebtl::perf {

/// An operation that can be waited for, and used again.
struct Waitable : Operation {
  std::atomic<bool> over{true};
  Completion how;

  Waitable() noexcept {
    done = [](Operation& operation, const Completion& completion) noexcept {
      auto& self = static_cast<Waitable&>(operation);
      self.how = completion;
      self.over.store(true, std::memory_order_release);
    };
  }
};

/// The number and kind of a message, in its tag, so that every message that is lost, repeated or
/// overtaken is noticed, whatever its content.
struct Label {
  enum class Kind : std::uint8_t { kData = 1, kAnswer = 2, kControl = 3 };
  Kind kind = Kind::kData;
  std::uint64_t number = 0;  // below 2^48
  bool last = false;         // nothing follows in this measurement
};
Tag tag_of(const Label& label) noexcept;
Label label_of(Tag tag) noexcept;
/// The bits of a tag that a receive of one kind ignores.
inline constexpr Tag kAnyNumber = (Tag{1} << 49) - 1;

/// The number of a control message that says that the sender has given up.
inline constexpr std::uint64_t kGaveUp = (std::uint64_t{1} << 48) - 1;

class Pair {
 public:
  Pair(std::shared_ptr<Engine> engine, std::unique_ptr<Port> port, const Destination& other,
       int rank, TimeNs timeout);
  ~Pair();
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  int rank() const noexcept { return rank_; }
  Port& port() noexcept { return *port_; }
  const Destination& other() const noexcept { return other_; }
  std::size_t inject_bytes_max() const noexcept { return inject_bytes_max_; }
  /// The transport of messages to the other one; "": none was sent yet.
  const std::string& transport() const noexcept { return transport_; }

  const std::optional<Error>& failure() const noexcept { return failure_; }
  /// Returns false, for `return pair.fail_with(...)`. The first failure counts.
  bool fail_with(Errc code, const std::string& text);

  /// Begins an operation by `start_it`; retries while the engine is busy.
  template <class Start>
  bool begin(Waitable& operation, Start start_it);
  bool begin_send(Waitable& operation, const Label& label, const Slice& slice);
  bool begin_receive(Waitable& operation, Label::Kind kind, const MutableSlice& room);
  /// Waits. true: it ended well.
  bool wait(Waitable& operation);
  /// The same without a time-out, for a process that does nothing until the other says so.
  bool wait_for_orders(Waitable& operation);
  /// Waits until somebody else makes it true; for at most the time-out.
  template <class Condition>
  bool wait_until(Condition condition, const char* what);

  /// As MPI_Send: the buffer is free after it.
  bool send(const Label& label, const Slice& slice);
  /// As MPI_Recv, and the message must be this one, and fill the room; sets `last`.
  bool receive(Label::Kind kind, std::uint64_t number, const MutableSlice& room, bool& last);
  /// receive: has ended. true: it is message `number`, of exactly `bytes`.
  bool is_message(const Waitable& receive, std::uint64_t number, std::size_t bytes, bool& last);
  /// After a failure: tells the other one, and ends what is still open, so that buffers can go.
  void close_if_failed() noexcept;

 private:
  bool look(TimeNs& since);
  bool has_ended_well(const Waitable& operation);
  bool fail_silent();

  std::shared_ptr<Engine> engine_;
  std::unique_ptr<Port> port_;
  const Destination other_;
  const int rank_;
  const TimeNs timeout_;
  const std::size_t inject_bytes_max_;
  IdleSpins spins_;
  std::uint32_t looks_in_vain_ = 0;
  std::string transport_;
  std::optional<Error> failure_;
  Waitable sending_, receiving_;  // of the blocking calls
};

/// Declared after the buffers and operations of a measurement: they go only when the engine has
/// none of them.
class Closing {
 public:
  explicit Closing(Pair& pair) noexcept : pair_(pair) {}
  ~Closing() { pair_.close_if_failed(); }
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;

 private:
  Pair& pair_;
};

template <class Start>
bool Pair::begin(Waitable& operation, Start start_it) {
  if (failure_) return false;
  operation.over.store(false, std::memory_order_relaxed);
  TimeNs since = 0;
  for (Accept answer = start_it(); answer != Accept::kAccepted; answer = start_it()) {
    if (answer != Accept::kBusy) operation.over.store(true, std::memory_order_relaxed);
    if (answer == Accept::kPeerLost) return fail_with(Errc::kPeerLost, "the other process is dead");
    if (answer == Accept::kInvalid)
      return fail_with(Errc::kInvalid, "the library did not take an operation; please report it");
    if (!look(since)) return false;
  }
  return true;
}

template <class Condition>
bool Pair::wait_until(Condition condition, const char* what) {
  if (failure_) return false;
  const TimeNs end = monotonic_now() + timeout_;
  while (!condition()) {
    if (engine_->progress() == 0) engine_->wait(kMillisecond);
    if (monotonic_now() >= end)
      return fail_with(Errc::kTimeout, std::string(what) + " took longer than --timeout");
  }
  return true;
}

}  // namespace livebtl::perf
