// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/conversation.h -- a program that is spoken to, a line at a time: one runs on another node, say. That it
// hears nothing more (its input ends) tells it that it has been given up. One thread; owns the program.
#pragma once

#include "base/deadline.h"
#include "base/fd.h"
#include "hypervisor/vm/child.h"
#include "hypervisor/vm/guest_agent.h"

namespace livebtl::hypervisor {

/// Of what a program has said, and nobody has read yet.
inline constexpr std::size_t kSaidBytesMax = std::size_t{8} << 20;

class Conversation {
 public:
  /// Errors: kNotFound: it cannot be started.
  static Result<Conversation> start(const std::vector<std::string>& words,
                                    AtTerminal place = AtTerminal::kApart);
  Conversation(Conversation&& other) noexcept = default;
  Conversation& operator=(Conversation&& other) = delete;
  /// Ends a program that finish() has not seen end.
  ~Conversation();

  /// The next line of its output. Errors: kUnreachable: it says nothing more, with the last that it said on stderr;
  /// kTimeout; kCancelled; kLimit: what it says has no end of a line where one must be.
  Result<std::string> read_line(const Deadline& deadline);
  /// A program that has ended reads it no more, which the next read_line() or finish() tells.
  void say(const std::string& line);
  void hang_up() { input_.reset(); }
  /// Hangs up, and waits for its end. What it says meanwhile is kept. Errors: kTimeout: it was killed, which a deadline of
  /// kNever never does.
  Result<Finished> finish(const Deadline& deadline);

 private:
  Conversation(pid_t child, Fd process, Fd input, Fd output, Fd errors);

  /// false: the deadline came, or both its outputs are closed.
  bool read_more(const Deadline& deadline);

  pid_t child_;
  Fd process_;  // none: it has been reaped
  Fd input_, output_, errors_;
  std::string said_, complaints_;
  std::size_t searched_ = 0;  // so much of said_ has no end of a line
};

}  // namespace livebtl::hypervisor
