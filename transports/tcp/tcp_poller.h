// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_poller.h -- epoll, level-triggered: which sockets have something to do.
//
// A target may remove itself or any other during a call. Under the engine's lock like everything
// here.
#pragma once

#include <vector>

#include "base/fd.h"
#include "transports/interface/transport.h"

namespace livebtl::tcp {

/// One call of Transport::progress(): what it is given and how far it has come.
struct Turn {
  core::TransportSink* accept = nullptr;
  TimeNs now = 0;
  std::size_t frames_max = 0;
  std::size_t frames = 0;  // moved so far
  std::size_t budget() const noexcept { return frames < frames_max ? frames_max - frames : 0; }
};

class PollTarget {
 public:
  virtual void on_ready(Turn& turn) noexcept = 0;

 protected:
  ~PollTarget() = default;
};

class Poller {
 public:
  /// Names one registration; never reused.
  enum class Token : std::uint64_t { kNone = 0 };

  static Result<Poller> make();

  int fd() const noexcept { return epoll_.number(); }
  /// events: EPOLLIN, EPOLLOUT. Errors: kNoMemory.
  Result<Token> add(int fd, std::uint32_t events, PollTarget& target);
  Status change(Token token, int fd, std::uint32_t events);
  /// Before closing fd: a child of this process may also hold it, and it would stay watched.
  void remove(Token token, int fd) noexcept;
  /// Calls the targets that are ready now; does not wait.
  void run(Turn& turn) noexcept;

 private:
  explicit Poller(Fd epoll) noexcept : epoll_(std::move(epoll)) {}

  struct Slot {
    PollTarget* target = nullptr;
    std::uint32_t use = 0;  // raised at each reuse: an event for an earlier user is recognised
  };
  Slot* find(Token token) noexcept;

  Fd epoll_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace livebtl::tcp
