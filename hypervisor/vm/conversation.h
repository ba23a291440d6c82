// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/conversation.h -- a program that is talked to line by line, such as one on another
// node. The end of its input tells it that it has been given up. One thread; owns the program.
#pragma once

#include "base/deadline.h"
#include "base/fd.h"
#include "hypervisor/vm/child.h"
#include "hypervisor/vm/guest_agent.h"

namespace livebtl::hypervisor {

/// Limit of a program's output that has not been read yet.
inline constexpr std::size_t kSaidBytesMax = std::size_t{8} << 20;

class Conversation {
 public:
  /// Errors: kNotFound: it cannot be started.
  static Result<Conversation> start(const std::vector<std::string>& words,
                                    AtTerminal place = AtTerminal::kApart);
  Conversation(Conversation&& other) noexcept = default;
  Conversation& operator=(Conversation&& other) = delete;
  /// Kills a program that finish() has not seen end.
  ~Conversation();

  /// The next line of its output. Errors: kUnreachable: its output has ended, with what it said on
  /// stderr; kTimeout; kCancelled; kLimit: a line is too long.
  Result<std::string> read_line(const Deadline& deadline);
  /// Does not fail if the program has ended: the next read_line() or finish() tells that.
  void say(const std::string& line);
  void hang_up() { input_.reset(); }
  /// Hangs up and waits for the program's end, keeping its output. Errors: kTimeout: it was killed
  /// (never with a deadline of kNever).
  Result<Finished> finish(const Deadline& deadline);

 private:
  Conversation(pid_t child, Fd process, Fd input, Fd output, Fd errors);

  /// False once the deadline has passed or both outputs are closed.
  bool read_more(const Deadline& deadline);

  pid_t child_;
  Fd process_;  // none: reaped, or no pidfd_open()
  Fd input_, output_, errors_;
  std::string said_, complaints_;
  std::size_t searched_ = 0;  // bytes of said_ without an end of line
};

}  // namespace livebtl::hypervisor
